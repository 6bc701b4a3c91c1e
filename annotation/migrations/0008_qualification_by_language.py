from collections import Counter

import django.core.validators
import django.db.models.deletion
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


def keep_what_was_known(apps, schema_editor):
    """Give up hidden checks, which would count, and all but the first open round of each rater."""
    apps.get_model('annotation', 'Rating').objects.filter(is_check=True).delete()
    apps.get_model('annotation', 'Assignment').objects.filter(is_check=True).delete()
    Round = apps.get_model('annotation', 'QualificationRound')
    met = set()
    for each in Round.objects.filter(decided_at__isnull=True).order_by('number'):
        if each.rater_id in met:
            each.delete()
        met.add(each.rater_id)
    schema_editor.connection.check_constraints()  # PostgreSQL alters no table with pending checks


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0007_undo'),
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
            model_name='qualificationround',
            name='results',
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.CreateModel(
            name='GoldAnswerChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('before', models.CharField(blank=True, max_length=32)),
                ('after', models.CharField(blank=True, max_length=32)),
                ('changed_at', models.DateTimeField()),
                ('changed_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('gold', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='annotation.goldrating')),
                ('question', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.question')),
            ],
            options={
                'ordering': ['changed_at', 'pk'],
            },
        ),
        migrations.AddField(
            model_name='project',
            name='gold_rounds',
            field=models.PositiveSmallIntegerField(default=0, help_text='Failed rounds after which a manager decides; 0 for no limit.'),
        ),
        migrations.AddField(
            model_name='assignment',
            name='is_check',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='rating',
            name='is_check',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='rating',
            name='gold_shown_at',
            field=models.DateTimeField(blank=True, null=True),
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
        migrations.CreateModel(
            name='CheckSuspension',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('language', models.CharField(max_length=12)),
                ('suspended_at', models.DateTimeField()),
                ('lifted_at', models.DateTimeField(blank=True, null=True)),
                ('checks', models.PositiveSmallIntegerField()),
                ('matched', models.PositiveIntegerField()),
                ('asked', models.PositiveIntegerField()),
                ('threshold', models.FloatField()),
            ],
            options={
                'ordering': ['suspended_at'],
            },
        ),
        migrations.AddField(
            model_name='project',
            name='check_feedback',
            field=models.BooleanField(default=False, help_text='Raters see the gold answers after a check.'),
        ),
        migrations.AddField(
            model_name='project',
            name='check_minimum',
            field=models.PositiveSmallIntegerField(default=10, help_text='Checks before which nobody is suspended.'),
        ),
        migrations.AddField(
            model_name='project',
            name='check_rate',
            field=models.FloatField(default=0, help_text="Share of a qualified rater's work that is a hidden check, from 0 to 1.", validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)]),
        ),
        migrations.AddField(
            model_name='project',
            name='check_threshold',
            field=models.FloatField(default=0, help_text='Share of gold answers below which a rater is suspended, from 0 to 1.', validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)]),
        ),
        migrations.AddField(
            model_name='project',
            name='check_window',
            field=models.PositiveSmallIntegerField(default=20, help_text='Last checks that are looked at.'),
        ),
        migrations.AddConstraint(
            model_name='project',
            constraint=models.CheckConstraint(condition=models.Q(('check_rate__range', (0, 1)), ('check_threshold__range', (0, 1))), name='project_check_shares_are_shares'),
        ),
        migrations.AddField(
            model_name='checksuspension',
            name='rater',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='check_suspensions', to='annotation.rater'),
        ),
        migrations.RunPython(move_qualifications, keep_what_was_known),
    ]
