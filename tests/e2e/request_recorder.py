#!/usr/bin/env python3
"""request_recorder.py LISTEN_PORT_FILE CERT KEY HOST PORT LOG [MODE_FILE]: a TLS relay in front of an API server that writes down each
request: "METHOD TARGET CONTENT-TYPE USER", USER is who is impersonated, "-" stands for nothing. What comes back is passed on as it is.

MODE_FILE holds what is wrong, and may change at any time: "ok", "away" (no connection stays), "slow SECONDS" (each request),
"answer STATUS EVERY" (each EVERYth request, with Retry-After: 1), "renew" (once: CERT and KEY are read again, no connection stays).

One thread: a TLS connection that one thread of Python reads while another one writes breaks now and then."""
import asyncio
import ssl
import sys

port_file, cert, key, host, port, log_path = sys.argv[1:7]
mode_file = sys.argv[7] if len(sys.argv) > 7 else None
connections, answered = set(), 0
log = open(log_path, "a", encoding="utf-8", buffering=1)
server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
server_side.load_cert_chain(cert, key)
server_side.set_alpn_protocols(["http/1.1"])
client_side = ssl.create_default_context()
client_side.check_hostname, client_side.verify_mode = False, ssl.CERT_NONE


async def pass_on(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


async def relay_body(reader, headers, writer):
    if headers.get("transfer-encoding", "").lower() == "chunked":
        size = -1
        while size:
            line = await reader.readline()
            size = int(line.split(b";")[0], 16)
            writer.write(line + await reader.readexactly(size + 2))
    elif left := int(headers.get("content-length", 0)):
        writer.write(await reader.readexactly(left))


def mode():
    if not mode_file:
        return ["ok"]
    with open(mode_file, encoding="utf-8") as f:
        return f.read().split() or ["ok"]


class Nowhere:
    """Takes the body of a request that is answered here."""
    def write(self, data):
        pass


async def answers(wrong, reader, headers, client):
    """Is this request answered here?"""
    global answered
    if wrong[0] != "answer":
        return False
    answered += 1
    if answered % int(wrong[2]):
        return False
    await relay_body(reader, headers, Nowhere())
    body = f'{{"kind":"Status","apiVersion":"v1","status":"Failure","code":{wrong[1]},"message":"said by the relay"}}'
    client.write((f"HTTP/1.1 {wrong[1]} Said\r\nContent-Type: application/json\r\nRetry-After: 1\r\n"
                  f"Content-Length: {len(body)}\r\n\r\n{body}").encode())
    await client.drain()
    return True


async def record(reader, writer, client):
    while head := await reader.readline():
        method, target = head.decode("latin-1").split()[:2]
        headers = {}
        while (line := await reader.readline()) not in (b"\r\n", b""):
            head += line
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        log.write(f"{method} {target} {headers.get('content-type') or '-'} {headers.get('impersonate-user', '-')}\n")
        wrong = mode()
        if wrong[0] == "slow":
            await asyncio.sleep(float(wrong[1]))
        if await answers(wrong, reader, headers, client):
            continue
        writer.write(head + b"\r\n")
        await relay_body(reader, headers, writer)
        await writer.drain()


async def serve(reader, writer):
    api_writer = None
    connections.add(writer)
    try:
        if mode()[0] == "away":
            return
        api_reader, api_writer = await asyncio.open_connection(host, int(port), ssl=client_side, server_hostname=host)
        ways = [asyncio.create_task(record(reader, api_writer, writer)), asyncio.create_task(pass_on(api_reader, writer))]
        _, others = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in others:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
    except OSError:
        pass
    finally:
        connections.discard(writer)
        for w in (writer, api_writer):
            if w:
                w.close()


async def cut():
    while True:
        wrong = mode()[0]
        if wrong == "renew":
            server_side.load_cert_chain(cert, key)
            with open(mode_file, "w", encoding="utf-8") as f:
                f.write("ok")
        if wrong in ("away", "renew"):
            for w in list(connections):
                w.transport.abort()
        await asyncio.sleep(0.2)


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=server_side, limit=1 << 20)
    with open(port_file, "w", encoding="utf-8") as f:
        f.write(str(server.sockets[0].getsockname()[1]))
    cutting = asyncio.create_task(cut())
    await server.serve_forever()
    cutting.cancel()

asyncio.run(main())
