"""HTTPS for the servers of the tests: an authority of their own, and one thread a connection."""
import http.server, ssl, subprocess


def certificates(root, names=("localhost",)):
    """Makes the authority ROOT/ca.crt and a certificate of it for 127.0.0.1 and the names: ROOT/server.crt, server.key."""
    def run(*args):
        subprocess.run(["openssl", *args], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=root)
    run("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test authority", "-keyout",
        "ca.key", "-out", "ca.crt")
    with open(f"{root}/san", "w", encoding="utf-8") as f:
        f.write("subjectAltName=IP:127.0.0.1," + ",".join("DNS:" + n for n in names) + "\n")
    run("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.csr")
    run("x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
        "-extfile", "san", "-out", "server.crt")


def server(root, handler, port=0, host="127.0.0.1"):
    """Of what certificates() made; it listens on host, and serves when it is told to."""
    made = http.server.ThreadingHTTPServer((host, port), handler)
    made.daemon_threads = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{root}/server.crt", f"{root}/server.key")
    made.socket = context.wrap_socket(made.socket, server_side=True, do_handshake_on_connect=False)
    return made


def serve(root, handler, host="127.0.0.1"):
    """Prints the port and serves until the process is killed."""
    s = server(root, handler, host=host)
    print(s.server_address[1], flush=True)
    s.serve_forever()
