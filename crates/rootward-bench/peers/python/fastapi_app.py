"""fastapi-health with one check that is always good."""

from fastapi import FastAPI
from fastapi_health import health


async def dependency() -> bool:
    return True


app = FastAPI()
app.add_api_route("/health", health([dependency]))
