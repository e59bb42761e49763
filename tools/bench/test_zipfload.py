# SPDX-License-Identifier: GPL-2.0-only
"""Tests of zipfload against servers that keep or spoil what they get: python3 -m unittest discover -s tools/bench"""

import pathlib
import socketserver
import subprocess
import sys
import tempfile
import threading
import unittest

PROGS = pathlib.Path(__file__).resolve().parent / "progs"
KEYS, BYTES, OPERATIONS = 300, 200, 3000


class Store(dict):
    """Values by key; SPOIL may give another one back."""

    def __init__(self, spoil=None):
        super().__init__()
        self.spoil = spoil or (lambda key, value: value)
        self.sets = 0

    def put(self, key, value):
        self[key] = value
        self.sets += 1

    def give(self, key):
        return self.spoil(key, self.get(key))


class Memcached(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            words = line.decode().split()
            if words[0] == "set":
                self.server.store.put(words[1], self.rfile.read(int(words[4]) + 2)[:-2])
                self.wfile.write(b"STORED\r\n")
                continue
            value = self.server.store.give(words[1])
            found = b"" if value is None else b"VALUE %s 0 %d\r\n%s\r\n" % (words[1].encode(), len(value), value)
            self.wfile.write(found + b"END\r\n")


class Redis(socketserver.StreamRequestHandler):
    def word(self):
        length = int(self.rfile.readline()[1:])
        return self.rfile.read(length + 2)[:-2]

    def handle(self):
        for line in self.rfile:
            words = [self.word() for _ in range(int(line[1:]))]
            if words[0] == b"SET":
                self.server.store.put(words[1].decode(), words[2])
                self.wfile.write(b"+OK\r\n")
                continue
            value = self.server.store.give(words[1].decode())
            self.wfile.write(b"$-1\r\n" if value is None else b"$%d\r\n%s\r\n" % (len(value), value))


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # zipfload ends when it hears nonsense
            super().handle_error(request, client_address)


class Zipfload(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.dir = pathlib.Path(holder.name)
        subprocess.run(["make", "-s", "-C", str(PROGS), f"OUT={cls.dir}", f"{cls.dir}/zipfload"], check=True)

    def go(self, handler, store):
        path = self.dir / "socket"
        path.unlink(missing_ok=True)
        with Server(str(path), handler) as server:
            server.store = store
            threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
            done = [
                subprocess.run([self.dir / "zipfload", "-n", str(KEYS), "-b", str(BYTES), "-o", str(OPERATIONS), "-s",
                                "20", handler.__name__.lower(), path, verb], capture_output=True, text=True,
                               timeout=60)
                for verb in ("load", "run")
            ]
            server.shutdown()
        return done

    def test_a_server_that_keeps_all(self):
        for handler in (Memcached, Redis):
            store = Store()
            load, run = self.go(handler, store)
            self.assertEqual((load.returncode, run.returncode), (0, 0), run.stderr)
            self.assertEqual(len(store), KEYS)
            gets = OPERATIONS + KEYS - store.sets
            self.assertIn(f"verified {gets} objects, 0 bad", run.stdout)
            self.assertRegex(run.stdout, rf"figures ops={OPERATIONS} rate=\S+ p50_us=\S+ p99_us=\S+ p999_us=\S+")
            self.assertTrue(0.15 < (store.sets - KEYS) / OPERATIONS < 0.25)

    def once(self, change):
        """Changes the value that is asked for as the 100th."""
        asked = []

        def spoil(key, value):
            asked.append(key)
            return change(value) if len(asked) == 100 else value

        return spoil

    def test_one_wrong_value_is_found(self):
        wrong = (
            lambda value: value[:50] + bytes([value[50] ^ 1]) + value[51:],
            lambda value: value[8:] + value[:8],
            lambda value: None,
        )
        for handler in (Memcached, Redis):
            for change in wrong:
                _, run = self.go(handler, Store(self.once(change)))
                self.assertEqual(run.returncode, 1)
                self.assertRegex(run.stdout, r"verified \d+ objects, 1 bad")

    def test_the_value_of_an_earlier_set_is_found(self):
        class Forgetful(Store):
            def put(self, key, value):
                if key not in self:
                    super().put(key, value)

        for handler in (Memcached, Redis):
            _, run = self.go(handler, Forgetful())
            self.assertEqual(run.returncode, 1)

    def test_a_value_of_another_length_ends_it(self):
        for handler in (Memcached, Redis):
            _, run = self.go(handler, Store(self.once(lambda value: value[:-1])))
            self.assertEqual(run.returncode, 2)
            self.assertIn("the server says", run.stderr)

    def test_draws_follow_zipfs_law(self):
        counts = {}

        def count(key, value):
            counts[key] = counts.get(key, 0) + 1
            return value

        self.go(Memcached, Store(count))
        ranked = sorted(counts.values(), reverse=True)
        first = 1 / sum(rank ** -0.99 for rank in range(1, KEYS + 1))
        self.assertAlmostEqual(ranked[0] / sum(ranked), first, delta=0.04)
        ten = sum(rank ** -0.99 for rank in range(1, 11)) * first
        self.assertAlmostEqual(sum(ranked[:10]) / sum(ranked), ten, delta=0.06)


if __name__ == "__main__":
    unittest.main()
