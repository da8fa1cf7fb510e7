#!/usr/bin/env python3
"""request_recorder.py LISTEN_PORT_FILE CERT KEY HOST PORT LOG: a TLS relay in front of an API server that writes down each
request: "METHOD TARGET CONTENT-TYPE USER", USER is who is impersonated, "-" stands for nothing. What comes back is passed on as it is.

One thread: a TLS connection that one thread of Python reads while another one writes breaks now and then."""
import asyncio
import ssl
import sys

port_file, cert, key, host, port, log_path = sys.argv[1:7]
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


async def record(reader, writer):
    while head := await reader.readline():
        method, target = head.decode("latin-1").split()[:2]
        headers = {}
        while (line := await reader.readline()) not in (b"\r\n", b""):
            head += line
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        log.write(f"{method} {target} {headers.get('content-type') or '-'} {headers.get('impersonate-user', '-')}\n")
        writer.write(head + b"\r\n")
        await relay_body(reader, headers, writer)
        await writer.drain()


async def serve(reader, writer):
    api_writer = None
    try:
        api_reader, api_writer = await asyncio.open_connection(host, int(port), ssl=client_side, server_hostname=host)
        ways = [asyncio.create_task(record(reader, api_writer)), asyncio.create_task(pass_on(api_reader, writer))]
        _, others = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in others:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
    except OSError:
        pass
    finally:
        for w in (writer, api_writer):
            if w:
                w.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=server_side, limit=1 << 20)
    with open(port_file, "w", encoding="utf-8") as f:
        f.write(str(server.sockets[0].getsockname()[1]))
    await server.serve_forever()

asyncio.run(main())
