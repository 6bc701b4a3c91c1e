import annotation.protocol
import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Questionnaire',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.SlugField(max_length=60, unique=True)),
                ('title', models.CharField(max_length=200)),
                ('stage_titles', models.JSONField()),
            ],
        ),
        migrations.CreateModel(
            name='Project',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=60, unique=True)),
                ('name', models.CharField(max_length=120)),
                ('description', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('redundancy', models.PositiveSmallIntegerField(default=1, help_text='Ratings that each summary gets.', validators=[django.core.validators.MinValueValidator(1)])),
                ('extra_redundancy', models.PositiveSmallIntegerField(default=3, help_text='Ratings that summaries of the shared part get, for agreement.', validators=[django.core.validators.MinValueValidator(1)])),
                ('extra_share', models.FloatField(default=0, help_text='Share of summaries in the shared part, from 0 to 1.', validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)])),
                ('lease_minutes', models.PositiveSmallIntegerField(default=60, help_text='Minutes after which an unfinished summary goes to another rater.')),
                ('daily_goal', models.PositiveSmallIntegerField(default=60, help_text='Summaries a rater is asked to rate in a day.')),
                ('allow_corrections', models.BooleanField(default=True, help_text='Raters may correct a finished rating; the first answer is kept for audit.')),
                ('gold_round_size', models.PositiveSmallIntegerField(default=20, help_text='Gold summaries in the first round.')),
                ('gold_retry_size', models.PositiveSmallIntegerField(default=10, help_text='Gold summaries in each further round.')),
                ('gold_threshold', models.FloatField(default=0.8, help_text='Least agreement with gold on each question, from 0 to 1.', validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)])),
                ('gold_thresholds', models.JSONField(blank=True, default=dict, help_text='Questions with a threshold of their own: key to share.')),
                ('results_published_at', models.DateTimeField(blank=True, help_text='Since when anybody may see the results.', null=True)),
                ('revision', models.PositiveBigIntegerField(default=0, editable=False)),
                ('questionnaire', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='projects', to='annotation.questionnaire')),
            ],
            options={
                'ordering': ['name'],
                'constraints': [models.CheckConstraint(condition=models.Q(('redundancy__gte', 1)), name='project_redundancy_positive'), models.CheckConstraint(condition=models.Q(('extra_redundancy__gte', 1)), name='project_extra_redundancy_positive'), models.CheckConstraint(condition=models.Q(('extra_share__range', (0, 1))), name='project_extra_share_is_share'), models.CheckConstraint(condition=models.Q(('gold_threshold__range', (0, 1))), name='project_gold_threshold_is_share')],
            },
        ),
        migrations.CreateModel(
            name='Rater',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('pseudonym', models.CharField(max_length=80)),
                ('group', models.CharField(blank=True, help_text="For example 'expert' or 'crowd'.", max_length=40)),
                ('languages', models.JSONField(default=list)),
                ('status', models.CharField(choices=[('training', 'qualifying'), ('qualified', 'qualified'), ('suspended', 'suspended'), ('removed', 'removed')], default='training', max_length=10)),
                ('status_before', models.CharField(blank=True, choices=[('training', 'qualifying'), ('qualified', 'qualified'), ('suspended', 'suspended'), ('removed', 'removed')], max_length=10)),
                ('joined_at', models.DateTimeField(auto_now_add=True)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='raters', to='annotation.project')),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='raters', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['pseudonym'],
                'constraints': [models.UniqueConstraint(fields=('project', 'pseudonym'), name='rater_pseudonym_once'), models.UniqueConstraint(fields=('project', 'user'), name='rater_once_per_project'), models.CheckConstraint(condition=models.Q(('status__in', ['training', 'qualified', 'suspended', 'removed'])), name='rater_status_known')],
            },
        ),
        migrations.CreateModel(
            name='QualificationRound',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('started_at', models.DateTimeField(auto_now_add=True)),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('passed', models.BooleanField(blank=True, null=True)),
                ('rater', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rounds', to='annotation.rater')),
            ],
            options={
                'ordering': ['number'],
                'constraints': [models.UniqueConstraint(fields=('rater', 'number'), name='round_number_once'), models.UniqueConstraint(condition=models.Q(('decided_at__isnull', True)), fields=('rater',), name='one_open_round_per_rater'), models.CheckConstraint(condition=models.Q(models.Q(('decided_at__isnull', True), ('passed__isnull', True)), models.Q(('decided_at__isnull', False), ('passed__isnull', False)), _connector='OR'), name='round_decided_with_result')],
            },
        ),
        migrations.CreateModel(
            name='Article',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('external_id', models.CharField(max_length=200)),
                ('language', models.CharField(max_length=12)),
                ('dataset', models.CharField(blank=True, max_length=80)),
                ('split', models.CharField(blank=True, max_length=20)),
                ('title', models.CharField(blank=True, max_length=300)),
                ('text', models.TextField(blank=True)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='articles', to='annotation.project')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('project', 'external_id'), name='article_once_in_project'), models.CheckConstraint(condition=models.Q(('external_id', ''), _negated=True), name='article_has_external_id'), models.CheckConstraint(condition=models.Q(('language', ''), _negated=True), name='article_has_language')],
            },
        ),
        migrations.CreateModel(
            name='System',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120)),
                ('is_reference', models.BooleanField(default=False)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='systems', to='annotation.project')),
            ],
            options={
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(fields=('project', 'name'), name='system_once_in_project'), models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='system_has_name')],
            },
        ),
        migrations.CreateModel(
            name='Summary',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text', models.TextField(blank=True)),
                ('ratings_wanted', models.PositiveSmallIntegerField(default=1)),
                ('open_places', models.PositiveSmallIntegerField(default=1)),
                ('shuffle_key', models.PositiveIntegerField(default=0)),
                ('article', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='summaries', to='annotation.article')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='summaries', to='annotation.project')),
                ('system', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='summaries', to='annotation.system')),
            ],
            options={
                'verbose_name_plural': 'summaries',
                'indexes': [models.Index(condition=models.Q(('open_places__gt', 0)), fields=['project', 'shuffle_key', 'id'], name='summary_open_places')],
                'constraints': [models.UniqueConstraint(fields=('article', 'system'), name='summary_once_per_article_and_system'), models.CheckConstraint(condition=models.Q(('open_places__lte', models.F('ratings_wanted'))), name='summary_places_within_wanted')],
            },
        ),
        migrations.CreateModel(
            name='Assignment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('open', 'open'), ('done', 'done'), ('released', 'released'), ('skipped', 'skipped')], default='open', max_length=10)),
                ('stage', models.PositiveSmallIntegerField(default=1)),
                ('stage_opened_at', models.DateTimeField()),
                ('leased_until', models.DateTimeField()),
                ('draft', models.JSONField(blank=True, default=dict)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('round', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='annotation.qualificationround')),
                ('rater', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='annotation.rater')),
                ('summary', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='annotation.summary')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('state', 'open')), fields=['leased_until'], name='assignment_open_leases')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('round__isnull', True)), fields=('rater', 'summary'), name='assignment_once_per_rater'), models.UniqueConstraint(condition=models.Q(('round__isnull', False)), fields=('round', 'summary'), name='assignment_once_per_round'), models.CheckConstraint(condition=models.Q(('state__in', ['open', 'done', 'released', 'skipped'])), name='assignment_state_known'), models.CheckConstraint(condition=models.Q(('stage__gte', 1)), name='assignment_stage_positive')],
            },
        ),
        migrations.CreateModel(
            name='GoldRating',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('retired_at', models.DateTimeField(blank=True, null=True)),
                ('summary', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='gold', to='annotation.summary')),
            ],
        ),
        migrations.CreateModel(
            name='Question',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveSmallIntegerField()),
                ('key', models.SlugField(max_length=60)),
                ('dimension', models.SlugField(max_length=60)),
                ('title', models.CharField(max_length=80)),
                ('wording', models.TextField()),
                ('stage', models.PositiveSmallIntegerField(validators=[django.core.validators.MinValueValidator(1)])),
                ('scale_kind', models.CharField(choices=[(annotation.protocol.ScaleKind['NOMINAL'], annotation.protocol.ScaleKind['NOMINAL']), (annotation.protocol.ScaleKind['ORDINAL'], annotation.protocol.ScaleKind['ORDINAL']), (annotation.protocol.ScaleKind['INTERVAL'], annotation.protocol.ScaleKind['INTERVAL'])], max_length=10)),
                ('scale_values', models.JSONField(blank=True, default=list)),
                ('scale_numbers', models.JSONField(blank=True, default=dict)),
                ('scale_low', models.FloatField(blank=True, null=True)),
                ('scale_high', models.FloatField(blank=True, null=True)),
                ('needs_article', models.BooleanField(default=False)),
                ('stops_rating_on', models.JSONField(blank=True, default=list)),
                ('questionnaire', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='questions', to='annotation.questionnaire')),
            ],
            options={
                'ordering': ['position'],
                'constraints': [models.UniqueConstraint(fields=('questionnaire', 'key'), name='question_key_once'), models.UniqueConstraint(fields=('questionnaire', 'position'), name='question_position_once'), models.CheckConstraint(condition=models.Q(('scale_kind__in', ['nominal', 'ordinal', 'interval'])), name='question_scale_known')],
            },
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('label', models.CharField(max_length=80)),
                ('token_hash', models.CharField(max_length=64, unique=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='ArticleFlag',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.TextField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('assignment', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='flag', to='annotation.assignment')),
            ],
        ),
        migrations.CreateModel(
            name='ProjectChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('revision', models.PositiveBigIntegerField()),
                ('kind', models.CharField(choices=[('rating', 'a rating was finished or corrected'), ('rater', "a rater's ratings count no more, or again"), ('batch', 'a batch of a run was scored'), ('setup', 'a run of a setup was deleted, perhaps the setup with it')], max_length=10)),
                ('changed_id', models.PositiveBigIntegerField(help_text='Primary key of what changed.')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='annotation.project')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('project', 'revision'), name='change_once_in_revision'), models.CheckConstraint(condition=models.Q(('kind__in', ['rating', 'rater', 'batch', 'setup'])), name='change_kind_known')],
            },
        ),
        migrations.CreateModel(
            name='GoldAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('value', models.CharField(max_length=32)),
                ('explanation', models.TextField()),
                ('gold', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='annotation.goldrating')),
                ('question', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='annotation.question')),
            ],
            options={
                'ordering': ['question__position'],
                'constraints': [models.UniqueConstraint(fields=('gold', 'question'), name='gold_answer_once'), models.CheckConstraint(condition=models.Q(('value', ''), _negated=True), name='gold_answer_not_empty')],
            },
        ),
        migrations.CreateModel(
            name='Rating',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField()),
                ('completed_at', models.DateTimeField(blank=True, null=True)),
                ('stage_times', models.JSONField(blank=True, default=list)),
                ('assignment', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='rating', to='annotation.assignment')),
                ('rater', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ratings', to='annotation.rater')),
                ('round', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='ratings', to='annotation.qualificationround')),
                ('summary', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ratings', to='annotation.summary')),
            ],
            options={
                'indexes': [models.Index(fields=['rater', 'completed_at'], name='rating_by_rater_and_time')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('round__isnull', True)), fields=('rater', 'summary'), name='rating_once_per_rater'), models.UniqueConstraint(condition=models.Q(('round__isnull', False)), fields=('round', 'summary'), name='rating_once_per_round')],
            },
        ),
        migrations.CreateModel(
            name='Answer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('value', models.CharField(max_length=32)),
                ('comment', models.TextField(blank=True)),
                ('revision', models.PositiveSmallIntegerField(default=1)),
                ('is_current', models.BooleanField(default=True)),
                ('after_reveal', models.BooleanField(default=False, help_text='Given after a later stage, perhaps the article, had been shown.')),
                ('created_at', models.DateTimeField()),
                ('question', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.question')),
                ('rating', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='annotation.rating')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('rating', 'question', 'revision'), name='answer_revision_once'), models.UniqueConstraint(condition=models.Q(('is_current', True)), fields=('rating', 'question'), name='answer_current_once'), models.CheckConstraint(condition=models.Q(('revision__gte', 1)), name='answer_revision_positive'), models.CheckConstraint(condition=models.Q(('value', ''), _negated=True), name='answer_not_empty')],
            },
        ),
        migrations.CreateModel(
            name='Rerating',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('added', models.PositiveSmallIntegerField()),
                ('asked_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('asked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('ended_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('summary', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reratings', to='annotation.summary')),
            ],
            options={
                'ordering': ['asked_at', 'pk'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('ended_at__isnull', True)), fields=('summary',), name='one_current_rerating'), models.CheckConstraint(condition=models.Q(('added__gte', 1)), name='rerating_adds_some')],
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('manager', 'manager'), ('researcher', 'researcher')], max_length=10)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='annotation.project')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('project', 'user', 'role'), name='membership_once'), models.CheckConstraint(condition=models.Q(('role__in', ['manager', 'researcher'])), name='membership_role_known')],
            },
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('annotator', 'annotator'), ('manager', 'manager'), ('researcher', 'researcher')], default='annotator', max_length=10)),
                ('languages', models.JSONField(blank=True, default=list)),
                ('note', models.CharField(blank=True, help_text='Whom it is for; only managers see this.', max_length=120)),
                ('token_hash', models.CharField(max_length=64, unique=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField()),
                ('accepted_at', models.DateTimeField(blank=True, null=True)),
                ('accepted_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='annotation.project')),
            ],
            options={
                'ordering': ['-created_at'],
                'constraints': [models.CheckConstraint(condition=models.Q(('role__in', ['annotator', 'manager', 'researcher'])), name='invitation_role_known')],
            },
        ),
        migrations.CreateModel(
            name='ImportJob',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(blank=True, help_text='Names the present lease.', max_length=36)),
                ('leased_until', models.DateTimeField(blank=True, null=True)),
                ('not_before', models.DateTimeField(blank=True, help_text='When it may be claimed again.', null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0, help_text='Leases so far.')),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('format', models.CharField(max_length=20)),
                ('file', models.FileField(upload_to='imports/')),
                ('file_name', models.CharField(max_length=200)),
                ('articles_file', models.FileField(blank=True, null=True, upload_to='imports/')),
                ('options', models.JSONField(blank=True, default=dict)),
                ('dry_run', models.BooleanField(default=False)),
                ('skip_bad', models.BooleanField(default=False)),
                ('status', models.CharField(choices=[('queued', 'waiting'), ('running', 'running'), ('done', 'done'), ('failed', 'failed'), ('cancelled', 'cancelled')], default='queued', max_length=10)),
                ('rows_read', models.PositiveIntegerField(default=0)),
                ('rows_total', models.PositiveIntegerField(blank=True, null=True)),
                ('report', models.JSONField(blank=True, default=dict)),
                ('errors', models.JSONField(blank=True, default=list)),
                ('failure', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='imports', to='annotation.project')),
            ],
            options={
                'ordering': ['-created_at'],
                'constraints': [models.CheckConstraint(condition=models.Q(('status__in', ['queued', 'running', 'done', 'failed', 'cancelled'])), name='import_status_known')],
            },
        ),
    ]
