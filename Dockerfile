# One image for the web server, the workers and the clock; compose.yaml says which. See docs/operators.md, "Containers".
FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1
WORKDIR /srv/touchstone

# Where pip also looks, such as at an index with a build of torch for CPUs, which is 2 GB smaller than the usual one.
ARG PIP_EXTRA_INDEX_URL
COPY requirements.txt constraints.txt ./
RUN pip install --no-cache-dir -r requirements.txt -c constraints.txt

COPY manage.py ./
COPY static static
COPY templates templates
COPY touchstone touchstone
COPY annotation annotation
COPY scoring scoring
COPY metaeval metaeval

# collectstatic needs settings, and signs nothing. The key is made for this one command and is in no layer.
RUN SECRET_KEY="$(python -c 'import secrets; print(secrets.token_urlsafe(50))')" VAR_DIR=/tmp/var \
    python manage.py collectstatic --noinput && rm -r /tmp/var \
    && useradd --system --uid 1000 --home-dir /var/lib/touchstone --create-home touchstone

USER 1000
ENV TOUCHSTONE_MODE=production VAR_DIR=/var/lib/touchstone HF_HOME=/var/lib/touchstone/huggingface \
    WEIGHTS_DIR=/var/lib/touchstone/weights
VOLUME /var/lib/touchstone
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/readyz', timeout=4)"]
CMD ["gunicorn", "--bind", "0.0.0.0:8000", "--worker-class", "touchstone.web_server.BufferingWorker", \
    "--workers", "2", "--threads", "4", "--keep-alive", "75", "--preload", "--no-control-socket", \
    "touchstone.wsgi:application"]
