from datetime import timedelta

import django.db.models.deletion
from django.db import migrations, models
from django.utils import timezone


def in_90_days():
    """Return the expiry of tokens that had none: their owners have time to replace them."""
    return timezone.now() + timedelta(days=90)


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0014_sessions'),
    ]

    operations = [
        migrations.AddField(
            model_name='apitoken',
            name='expires_at',
            field=models.DateTimeField(default=in_90_days),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='apitoken',
            name='project',
            field=models.ForeignKey(blank=True, help_text="The only project that the token opens; empty for all of its owner's.", null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.project'),
        ),
    ]
