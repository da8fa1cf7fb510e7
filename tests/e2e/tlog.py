#!/usr/bin/env python3
"""tlog.py: an audit log of ALM read, forged, proved and witnessed by code that shares nothing with ALM's.

  tlog.py forge DB HOW          changes the log as somebody with the database but without its key can
  tlog.py check-proof VKEY FILE the proof (c2sp.org/tlog-proof) fits its checkpoint, and that the key
  tlog.py monitor VKEY          the tiles (c2sp.org/tlog-tiles) of the server of KUBECONFIG lead to its checkpoint
  tlog.py witness DIR VKEY PORTFILE   a witness (c2sp.org/tlog-witness) for the log of VKEY, on a free port

Ed25519 comes from the openssl program.
"""
import base64
import hashlib
import http.server
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time


def sha(b):
    return hashlib.sha256(b).digest()


def node(left, right):
    return sha(b'\1' + left + right)


def root(leaves):
    if not leaves:
        return sha(b'')
    if len(leaves) == 1:
        return leaves[0]
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return node(root(leaves[:k]), root(leaves[k:]))


def inclusion_root(leaf, index, size, path):
    """RFC 9162, 2.1.3.2; None if the path does not fit."""
    fn, sn, r = index, size - 1, leaf
    for p in path:
        if sn == 0:
            return None
        if fn & 1 or fn == sn:
            r = node(p, r)
            while not fn & 1 and fn:
                fn >>= 1
                sn >>= 1
        else:
            r = node(r, p)
        fn >>= 1
        sn >>= 1
    return r if sn == 0 else None


def consistent(old, old_root, size, new_root, path):
    """RFC 9162, 2.1.4.2."""
    if old == size:
        return not path and old_root == new_root
    if old == 0:
        return not path
    path = list(path)
    if old & (old - 1) == 0:
        path.insert(0, old_root)
    if not path:
        return False
    fn, sn = old - 1, size - 1
    while fn & 1:
        fn >>= 1
        sn >>= 1
    fr = sr = path[0]
    for c in path[1:]:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            fr, sr = node(c, fr), node(c, sr)
            while not fn & 1 and fn:
                fn >>= 1
                sn >>= 1
        else:
            sr = node(sr, c)
        fn >>= 1
        sn >>= 1
    return sn == 0 and fr == old_root and sr == new_root


# Ed25519, by openssl.

def openssl(*args, data=None):
    with tempfile.TemporaryDirectory() as d:
        names = {}
        for name, content in (data or {}).items():
            names[name] = os.path.join(d, name)
            with open(names[name], 'wb') as f:
                f.write(content)
        argv = ['openssl'] + [names.get(a[1:], a) if a.startswith('@') else a for a in args]
        return subprocess.run(argv, capture_output=True, check=False)


SPKI = bytes.fromhex('302a300506032b6570032100')
PKCS8 = bytes.fromhex('302e020100300506032b657004220420')


def ed25519_verify(public, message, signature):
    return openssl('pkeyutl', '-verify', '-pubin', '-keyform', 'DER', '-inkey', '@key', '-rawin', '-in', '@msg', '-sigfile',
                   '@sig', data={'key': SPKI + public, 'msg': message, 'sig': signature}).returncode == 0


def ed25519_sign(seed, message):
    return openssl('pkeyutl', '-sign', '-keyform', 'DER', '-inkey', '@key', '-rawin', '-in', '@msg',
                   data={'key': PKCS8 + seed, 'msg': message}).stdout


def ed25519_public(seed):
    return openssl('pkey', '-inform', 'DER', '-in', '@key', '-pubout', '-outform', 'DER', data={'key': PKCS8 + seed}).stdout[-32:]


# Notes.

def key_id(name, kind, public):
    return sha(name.encode() + b'\n' + bytes([kind]) + public)[:4]


def vkey(name, kind, public):
    return '%s+%s+%s' % (name, key_id(name, kind, public).hex(), base64.b64encode(bytes([kind]) + public).decode())


def vkey_parse(text):
    name, ident, key = text.split('+', 2)
    raw = base64.b64decode(key)
    assert key_id(name, raw[0], raw[1:]).hex() == ident
    return name, raw[0], raw[1:]


def note_split(note):
    text, signatures = note.split('\n\n', 1)
    text += '\n'
    origin, size, tree = text.split('\n')[:3]
    return text, signatures, origin, int(size), base64.b64decode(tree)


def signed_by(note, key):
    name, kind, public = vkey_parse(key)
    text, signatures = note_split(note)[:2]
    for line in signatures.splitlines():
        who, sig = line[2:].rsplit(' ', 1)
        raw = base64.b64decode(sig)
        if who == name and raw[:4] == key_id(name, kind, public):
            return ed25519_verify(public, text.encode(), raw[4:])
    return False


def sign_note(name, seed, text, kind=1):
    public = ed25519_public(seed)
    if kind == 4:
        now = int(time.time())
        raw = now.to_bytes(8, 'big') + ed25519_sign(seed, b'cosignature/v1\ntime %d\n' % now + text.encode())
    else:
        raw = ed25519_sign(seed, text.encode())
    return '\u2014 %s %s\n' % (name, base64.b64encode(key_id(name, kind, public) + raw).decode())


# The log.

COLUMNS = 'seq,time,type,reason,cluster,kind,ns,name,uid,tseq,op,cause,actor,body'


def record(row):
    seq, when, kind, reason, cluster, subject, ns, name, uid, tseq, op, cause, actor, body = row

    def q(s):
        return json.dumps(s, ensure_ascii=False)
    parts = ['"actor":' + q(actor)] if actor is not None else []
    parts.append('"body":' + body)
    parts += ['"cause":%d' % cause] if cause is not None else []
    parts += ['"op":' + q(op)] if op is not None else []
    parts += ['"reason":' + q(reason), '"seq":%d' % seq]
    parts.append('"subject":{"cluster":%s,"kind":%s,"name":%s,"namespace":%s,"uid":%s}'
                 % (q(cluster), q(subject), q(name), q(ns), q(uid)))
    parts.append('"time":%d' % when)
    parts += ['"transitionSeq":%d' % tseq] if tseq is not None else []
    parts.append('"type":' + q(kind))
    return ('{' + ','.join(parts) + '}').encode()


def blame(rows, name):
    n = 0
    for r in rows:
        if r[7] == name and r[12] is not None:
            r[12] = 'mallory'
            n += 1
    assert n, 'no row to change'
    return rows


def rewrite(c, rows, origin):
    """The rows with fitting chain values and tiles."""
    chain, leaves = sha(b'alm-audit v1\n' + origin.encode() + b'\n'), []
    c.execute('DELETE FROM audit')
    for i, r in enumerate(rows):
        r[0] = i + 1
        leaves.append(sha(b'\0' + record(r)))
        chain = sha(b'\2' + chain + leaves[-1])
        c.execute('INSERT INTO audit VALUES (%s)' % ','.join('?' * 15), (*r, chain))
    c.execute('DELETE FROM audit_tile')
    level, number = leaves, 0
    while len(level) >= 256:
        above = []
        for t in range(len(level) // 256):
            tile = level[t * 256:t * 256 + 256]
            c.execute('INSERT INTO audit_tile VALUES (?, ?)', (number << 40 | t, b''.join(tile)))
            above.append(root(tile))
        level, number = above, number + 1
    last = len(rows)
    c.execute('DELETE FROM audit_ref WHERE seq > ?', (last,))
    c.execute('DELETE FROM audit_head WHERE seq > ?', (last,))
    return leaves


def resign(c, leaves, origin):
    """Every checkpoint anew, with a key of the forger's own."""
    seed = os.urandom(32)
    sizes = [r[0] for r in c.execute('SELECT size FROM audit_checkpoint WHERE size <= ? ORDER BY size', (len(leaves),))]
    c.execute('DELETE FROM audit_checkpoint')
    c.execute('UPDATE audit_key SET vkey = ?', (vkey(origin, 1, ed25519_public(seed)),))
    for size in sizes:
        text = '%s\n%d\n%s\n' % (origin, size, base64.b64encode(root(leaves[:size])).decode())
        c.execute('INSERT INTO audit_checkpoint VALUES (?, ?)', (size, text + '\n' + sign_note(origin, seed, text)))


def forge(path, how):
    c = sqlite3.connect(path)
    triggers = c.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name LIKE 'audit%'").fetchall()
    for name, _ in triggers:
        c.execute('DROP TRIGGER ' + name)
    rows = [list(r) for r in c.execute('SELECT %s FROM audit ORDER BY seq' % COLUMNS)]
    chains = [r[0] for r in c.execute('SELECT chain FROM audit ORDER BY seq')]
    origin, chain = rows[0][7], sha(b'alm-audit v1\n' + rows[0][7].encode() + b'\n')
    for r, want in zip(rows, chains):
        chain = sha(b'\2' + chain + sha(b'\0' + record(r)))
        assert chain == want, 'the model differs from the log at row %d' % r[0]
    if how == 'rewritten':
        rewrite(c, blame(rows, 'victim'), origin)
        c.execute('DELETE FROM audit_checkpoint')
    elif how == 'rewritten-late':
        rewrite(c, blame(rows, 'victim'), origin)
        first = next(r[0] for r in rows if r[7] == 'victim')
        c.execute('DELETE FROM audit_checkpoint WHERE size >= ?', (first,))
    elif how == 'resigned':
        resign(c, rewrite(c, blame(rows, 'victim'), origin), origin)
    elif how == 'truncated':
        rewrite(c, rows[:-8], origin)
        c.execute('DELETE FROM audit_checkpoint WHERE size > ?', (len(rows) - 8,))
    elif how == 'emptied':
        for table in ('audit', 'audit_checkpoint', 'audit_tile', 'audit_ref', 'audit_head'):
            c.execute('DELETE FROM ' + table)
    elif how == 'checkpoints':
        c.execute('DELETE FROM audit_checkpoint')
    elif how == 'one-checkpoint':
        c.execute('DELETE FROM audit_checkpoint WHERE size = (SELECT min(size) FROM audit_checkpoint)')
    elif how == 'appended':
        more = list(rows[-1])
        more[9] = more[10] = None
        rewrite(c, rows + [more], origin)
    else:
        raise SystemExit('forge: ' + how)
    for _, sql in triggers:
        c.execute(sql)
    c.commit()
    c.execute('PRAGMA wal_checkpoint(TRUNCATE)')
    c.close()


def check_proof(key, path):
    with open(path, encoding='utf-8') as f:
        head, note = f.read().split('\n\n', 1)
    lines = head.split('\n')
    assert lines.pop(0) == 'c2sp.org/tlog-proof@v1'
    extra = base64.b64decode(lines.pop(0)[6:]) if lines[0].startswith('extra ') else None
    index = int(lines.pop(0)[6:])
    _, _, _, size, tree = note_split(note)
    assert signed_by(note, key), 'the checkpoint is not signed by ' + key
    got = inclusion_root(sha(b'\0' + extra), index, size, [base64.b64decode(s) for s in lines])
    assert got == tree, 'the proof does not lead to the root'
    print('row %d of %d: %s' % (index + 1, size, extra.decode()))


def index_path(n):
    parts = ['%03d' % (n % 1000)]
    while n >= 1000:
        n //= 1000
        parts.insert(0, 'x%03d' % (n % 1000))
    return '/'.join(parts)


def monitor(key):
    """Reads the whole log of the server of KUBECONFIG as tiles (c2sp.org/tlog-tiles) and recomputes its root."""
    def get(path):
        return subprocess.run(['kubectl', 'get', '--raw', '/audit/' + path], capture_output=True, check=True).stdout

    def widths(n):
        return [(i, min(256, n - 256 * i)) for i in range((n + 255) // 256)]

    def tile(prefix, i, width):
        return get('tile/%s/%s%s' % (prefix, index_path(i), '' if width == 256 else '.p/%d' % width))

    note = get('checkpoint').decode()
    _, _, _, size, tree = note_split(note)
    assert signed_by(note, key), 'the checkpoint is not signed by ' + key
    leaves = []
    for i, width in widths(size):
        data, hashes = tile('entries', i, width), tile('0', i, width)
        for _ in range(width):
            n = int.from_bytes(data[:2], 'big')
            leaves.append(sha(b'\0' + data[2:2 + n]))
            data = data[2 + n:]
        assert not data, 'bundle %d is too long' % i
        assert hashes == b''.join(leaves[256 * i:]), 'tile 0/%d is not of its entries' % i
    for i, width in widths(size // 256):
        want = b''.join(root(leaves[256 * n:256 * (n + 1)]) for n in range(256 * i, 256 * i + width))
        assert tile('1', i, width) == want, 'tile 1/%d' % i
    assert root(leaves) == tree, 'the entries do not lead to the root'
    print('tiles of more than %d rows lead to the root' % (size // 256 * 256))


class Witness(http.server.BaseHTTPRequestHandler):
    directory = log_key = seed = None

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass

    def answer(self, status, body='', kind='text/plain'):
        self.send_response(status)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(body.encode())))
        try:
            self.end_headers()
            self.wfile.write(body.encode())
        except BrokenPipeError:
            pass  # the server was stopped meanwhile

    def do_POST(self):
        if self.path != '/add-checkpoint':
            return self.answer(404)
        body = self.rfile.read(int(self.headers['Content-Length'])).decode()
        head, note = body.split('\n\n', 1)
        lines = head.split('\n')
        old, path = int(lines[0][4:]), [base64.b64decode(s) for s in lines[1:]]
        text, _, origin, size, tree = note_split(note)
        if origin != vkey_parse(self.log_key)[0]:
            return self.answer(404)
        if not signed_by(note, self.log_key):
            return self.answer(403)
        if old > size:
            return self.answer(400)
        state = os.path.join(self.directory, 'state')
        known, known_root = 0, sha(b'')
        if os.path.exists(state):
            with open(state, encoding='utf-8') as f:
                known, known_root = (lambda a, b: (int(a), bytes.fromhex(b)))(*f.read().split())
        if old != known:
            return self.answer(409, '%d\n' % known, 'text/x.tlog.size')
        if known == size and known_root != tree:
            return self.answer(409, '%d\n' % known, 'text/x.tlog.size')
        if not consistent(known, known_root, size, tree, path):
            return self.answer(422)
        with open(state, 'w', encoding='utf-8') as f:
            f.write('%d %s\n' % (size, tree.hex()))
        return self.answer(200, sign_note('witness.example/w1', self.seed, text, 4))


def witness(directory, key, portfile):
    Witness.directory, Witness.log_key, Witness.seed = directory, key, sha(b'a witness for tests')
    server = http.server.HTTPServer(('127.0.0.1', 0), Witness)
    with open(portfile + '.tmp', 'w', encoding='utf-8') as f:
        f.write('%d %s\n' % (server.server_address[1], vkey('witness.example/w1', 4, ed25519_public(Witness.seed))))
    os.rename(portfile + '.tmp', portfile)
    server.serve_forever()


if __name__ == '__main__':
    {'forge': forge, 'check-proof': check_proof, 'monitor': monitor, 'witness': witness}[sys.argv[1]](*sys.argv[2:])
