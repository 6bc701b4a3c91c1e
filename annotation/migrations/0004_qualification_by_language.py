import django.db.models.deletion
from collections import Counter

from django.conf import settings
from django.db import migrations, models


def move_qualifications(apps, schema_editor):
    """Qualify raters in each of their languages, and give each round the language of most of its summaries."""
    Rater = apps.get_model('annotation', 'Rater')
    Round = apps.get_model('annotation', 'QualificationRound')
    Qualification = apps.get_model('annotation', 'Qualification')
    passed = {}
    for each in Round.objects.order_by('number').iterator():
        found = Counter(each.assignments.values_list('summary__article__language', flat=True))
        own = each.rater.languages
        each.language = found.most_common(1)[0][0] if found else own[0] if own else ''
        each.save(update_fields=['language'])
        if each.passed:
            passed[each.rater_id] = each
    qualified = Rater.objects.filter(
        models.Q(status='qualified') | models.Q(status_before='qualified'), user__isnull=False
    )
    for rater in qualified.iterator():
        how = passed.get(rater.pk)
        Qualification.objects.bulk_create(
            Qualification(
                rater=rater, language=language, since=how.decided_at if how else rater.joined_at, round=how
            )
            for language in dict.fromkeys(rater.languages)
        )


def keep_one_open_round(apps, schema_editor):
    """Give up all but the first open round of a rater: the earlier version admits one."""
    Round = apps.get_model('annotation', 'QualificationRound')
    met = set()
    for each in Round.objects.filter(decided_at__isnull=True).order_by('number'):
        if each.rater_id in met:
            each.delete()
        met.add(each.rater_id)
    schema_editor.connection.check_constraints()  # PostgreSQL alters no table with pending checks


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0003_guidelines'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='rater',
            name='chosen_language',
            field=models.CharField(blank=True, help_text='The language in which the rater works now.', max_length=12),
        ),
        migrations.AddField(
            model_name='qualificationround',
            name='language',
            field=models.CharField(default='', max_length=12),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='qualificationround',
            name='allowed_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='project',
            name='gold_rounds',
            field=models.PositiveSmallIntegerField(default=0, help_text='Failed rounds after which a manager decides; 0 for no limit.'),
        ),
        migrations.CreateModel(
            name='Qualification',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('language', models.CharField(max_length=12)),
                ('since', models.DateTimeField()),
                ('decided_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('rater', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='qualifications', to='annotation.rater')),
                ('round', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='annotation.qualificationround')),
            ],
            options={
                'ordering': ['language'],
                'constraints': [models.UniqueConstraint(fields=('rater', 'language'), name='qualified_once_in_language')],
            },
        ),
        migrations.RemoveConstraint(
            model_name='qualificationround',
            name='one_open_round_per_rater',
        ),
        migrations.AddConstraint(
            model_name='qualificationround',
            constraint=models.UniqueConstraint(condition=models.Q(('decided_at__isnull', True)), fields=('rater', 'language'), name='one_open_round_in_language'),
        ),
        migrations.RunPython(move_qualifications, keep_one_open_round),
    ]
