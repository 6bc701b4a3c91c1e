import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('annotation', '0001_tables'),
        ('scoring', '0001_tables'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='DisagreementTag',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('verdict', models.CharField(choices=[('evaluator', 'evaluator wrong'), ('label', 'label wrong'), ('guideline', 'guideline gap'), ('unclear', 'unclear')], max_length=10)),
                ('note', models.CharField(blank=True, max_length=500)),
                ('created_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('ended_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('question', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.question')),
                ('setup', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='disagreement_tags', to='scoring.setup')),
                ('summary', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='disagreement_tags', to='annotation.summary')),
            ],
            options={
                'ordering': ['created_at', 'pk'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('ended_at__isnull', True)), fields=('setup', 'question', 'summary'), name='one_current_disagreement_tag'), models.CheckConstraint(condition=models.Q(('verdict__in', ['evaluator', 'label', 'guideline', 'unclear'])), name='disagreement_verdict_known')],
            },
        ),
    ]
