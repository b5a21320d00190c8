// @godaddy/terminus on Node's own HTTP server.
const http = require("node:http");
const { createTerminus } = require("@godaddy/terminus");

const server = http.createServer((_, response) => response.end("hello"));
createTerminus(server, { healthChecks: { "/health": async () => ({ dependency: "up" }) } });
server.listen(Number(process.env.PORT), "127.0.0.1");
