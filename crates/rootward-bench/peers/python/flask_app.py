"""py-healthcheck on Flask with one check that is always good."""

from flask import Flask
from healthcheck import HealthCheck

health = HealthCheck()
health.add_check(lambda: (True, "up"))
app = Flask(__name__)
app.add_url_rule("/health", "health", view_func=health.run)
