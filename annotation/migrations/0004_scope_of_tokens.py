from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0003_closed_campaigns"),
    ]

    operations = [
        migrations.AddField(
            model_name="apitoken",
            name="scope",
            field=models.CharField(
                choices=[("read", "Read results"), ("rate", "Rate summaries"), ("manage", "Read and manage")],
                db_default="read",
                default="read",
                max_length=10,
            ),
        ),
    ]
