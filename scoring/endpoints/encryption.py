"""Secrets that workers have to send, encrypted in the database."""

import base64

from cryptography.fernet import Fernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


def encrypt(text: str, purpose: str) -> str:
    """Return the encrypted text, which only `decrypt` with the same purpose reads."""
    return _fernet(purpose).encrypt(text.encode()).decode()


def decrypt(encrypted: str, purpose: str) -> str:
    """Return the text. Raises InvalidToken (of cryptography) if ENDPOINT_KEYS_SECRET was another."""
    return _fernet(purpose).decrypt(encrypted.encode()).decode()


def _fernet(purpose: str) -> Fernet:
    secret = settings.ENDPOINT_KEYS_SECRET or settings.SECRET_KEY
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=f"touchstone: {purpose}".encode())
    return Fernet(base64.urlsafe_b64encode(derived.derive(secret.encode())))
