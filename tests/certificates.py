# SPDX-License-Identifier: Apache-2.0
"""A certificate authority for tests."""

from __future__ import annotations

import datetime
import ipaddress
import pathlib

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

#: Validity before and after now.
VALIDITY = datetime.timedelta(days=1)


class CertificateAuthority:
    """Sign certificates.

    :param directory: for certificates and keys
    :ivar file: certificate of the authority
    """

    def __init__(self, directory: pathlib.Path, name: str = 'ca') -> None:
        self._directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(name)
        constraints = x509.BasicConstraints(ca=True, path_length=None)
        certificate = (
            self._builder(self._name, self._key)
            .add_extension(constraints, critical=True)
            .add_extension(_SIGNS, critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.file = directory / f'{name}.pem'
        self.file.write_bytes(_pem(certificate))

    def sign(self, name: str, address: str = '') -> tuple[str, str]:
        """Return the paths of a new certificate and its key.

        :param address: IP address or name of the server, if it is for a server
        """
        key = ec.generate_private_key(ec.SECP256R1())
        builder = self._builder(_name(name), key)
        if address:
            builder = builder.add_extension(
                x509.SubjectAlternativeName([_general_name(address)]),
                critical=False,
            )
        certificate = builder.sign(self._key, hashes.SHA256())
        file = self._directory / f'{name}.pem'
        key_file = self._directory / f'{name}.key'
        file.write_bytes(_pem(certificate))
        key_file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return str(file), str(key_file)

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey
    ) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - VALIDITY)
            .not_valid_after(now + VALIDITY)
            # Python 3.13 requires key identifiers.
            .add_extension(
                x509.SubjectKeyIdentifier.from_public_key(key.public_key()),
                critical=False,
            )
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(
                    self._key.public_key()
                ),
                critical=False,
            )
        )


#: Key usages of an authority; Python 3.13 requires the extension.
_SIGNS = x509.KeyUsage(
    digital_signature=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _general_name(address: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(address))
    except ValueError:
        return x509.DNSName(address)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
