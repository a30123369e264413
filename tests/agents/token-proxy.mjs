// Adds the token to requests that a client cannot be made to send it with, and prints its own address.
//     node token-proxy.mjs URL AUTHORIZATION
// The proxy's own name in `Host` and `Origin` becomes the server's; any other stays, so that the server judges it.

import http from "node:http";

const [url, authorization] = process.argv.slice(2);
const server = new URL(url);

function forwarded(headers, port) {
  const changed = { ...headers, authorization };
  for (const name of ["host", "origin"]) {
    if (changed[name]) changed[name] = changed[name].replace(new RegExp(`:${port}$`), `:${server.port}`);
  }
  return changed;
}

const proxy = http.createServer((request, response) => {
  const headers = forwarded(request.headers, proxy.address().port);
  const options = { host: server.hostname, port: server.port, path: request.url, method: request.method, headers };
  const asked = http.request(options, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  asked.on("error", () => response.destroy());
  // A stream that the client leaves is left here as well.
  response.on("close", () => asked.destroy());
  request.pipe(asked);
});

proxy.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${proxy.address().port}${server.pathname}`));
