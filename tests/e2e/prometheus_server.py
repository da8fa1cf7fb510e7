#!/usr/bin/python3
# A Prometheus that says what a file tells it: prometheus_server.py FILE PORT_FILE [CERT KEY]. Each line of FILE is one answer, the
# last one stays: a number (or numbers), none, hang, drop, large, html, a status like 500. Requests are in FILE.log: path, token.
import http.server, json, ssl, sys, time

state, port_file = sys.argv[1:3]
asked = 0


class Server(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def send(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        global asked
        lines = open(state).read().split("\n")
        lines = [l for l in lines if l]
        word = lines[min(asked, len(lines) - 1)]
        asked += 1
        with open(state + ".log", "a") as log:
            log.write("%s %s\n" % (self.path, self.headers.get("Authorization", "-")))
        if word == "hang":
            time.sleep(60)
        elif word == "drop":
            self.connection.close()
        elif word == "html":
            self.send(200, b"<html>")
        elif word == "large":
            self.send(200, b" " * (2 << 20))
        elif word.isdigit() and len(word) == 3:
            self.send(int(word), json.dumps({"status": "error", "error": "told to"}).encode())
        else:
            values = [] if word == "none" else word.split()
            result = [{"metric": {}, "value": [time.time(), v]} for v in values]
            answer = {"status": "success", "data": {"resultType": "vector", "result": result}}
            self.send(200, json.dumps(answer).encode())


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
if len(sys.argv) > 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[3], sys.argv[4])
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(port_file + ".new", "w") as f:
    f.write(str(server.server_address[1]))
import os

os.rename(port_file + ".new", port_file)
server.serve_forever()
