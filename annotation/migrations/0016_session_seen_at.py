from django.db import migrations, models
from django.utils import timezone


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0015_token_expiry'),
    ]

    operations = [
        migrations.AddField(
            model_name='session',
            name='seen_at',
            field=models.DateTimeField(auto_now=True, default=timezone.now, help_text='The last request, to ten minutes.'),
            preserve_default=False,
        ),
    ]
