"""Celery's broker in Redis, whose workers outlive a restart of the server (`redis://`, `rediss://`).

With kombu's own channel a worker that had a message in hand ended with AttributeError. A message only wakes a
worker, and the sweep sends others, so nothing is lost if one is not given back.
"""

from kombu.transport import redis


class RedisChannel(redis.Channel):
    """A channel that asks nothing of the server once it is closed, nor while it is being closed."""

    do_restore = False

    def basic_ack(self, delivery_tag: str, multiple: bool = False) -> None:
        if not self.closed:
            super().basic_ack(delivery_tag, multiple)

    def basic_reject(self, delivery_tag: str, requeue: bool = False) -> None:
        if not self.closed:
            super().basic_reject(delivery_tag, requeue)


class RedisTransport(redis.Transport):
    Channel = RedisChannel
