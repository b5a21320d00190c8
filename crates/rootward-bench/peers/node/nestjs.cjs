// @nestjs/terminus on Express, without TypeScript: its decorators are called as functions.
require("reflect-metadata");
const { Controller, Get, Inject, Module } = require("@nestjs/common");
const { NestFactory } = require("@nestjs/core");
const { HealthCheck, HealthCheckService, TerminusModule } = require("@nestjs/terminus");

class HealthController {
  constructor(health) {
    this.health = health;
  }
  check() {
    return this.health.check([async () => ({ dependency: { status: "up" } })]);
  }
}
const check = Object.getOwnPropertyDescriptor(HealthController.prototype, "check");
HealthCheck()(HealthController.prototype, "check", check);
Get()(HealthController.prototype, "check", check);
Inject(HealthCheckService)(HealthController, undefined, 0);
Controller("health")(HealthController);

class AppModule {}
Module({ imports: [TerminusModule], controllers: [HealthController] })(AppModule);

NestFactory.create(AppModule, { logger: false }).then((app) => app.listen(Number(process.env.PORT), "127.0.0.1"));
