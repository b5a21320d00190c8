"""A mail server for tests: aiosmtpd, with one user. It says on its output what it is asked to do with mail."""

import asyncio
import ssl
import sys

from aiosmtpd.handlers import Sink
from aiosmtpd.smtp import SMTP, AuthResult


class Watched(SMTP):
    async def smtp_MAIL(self, arg):
        print("a mail was begun", flush=True)
        return await super().smtp_MAIL(arg)


def authenticate(server, session, envelope, mechanism, data):
    good = data.login == b"alice" and data.password == b"correct"
    return AuthResult(success=good, handled=False)


async def main(port, mode):
    context = None
    if mode != "plain":
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain("cert.pem", "key.pem")

    def serve():
        return Watched(
            Sink(),
            hostname="mail.example",
            authenticator=authenticate,
            tls_context=context if mode == "starttls" else None,
            auth_require_tls=mode == "starttls",
        )

    loop = asyncio.get_running_loop()
    around = context if mode == "smtps" else None
    server = await loop.create_server(serve, "127.0.0.1", port, ssl=around)
    await server.serve_forever()


asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
