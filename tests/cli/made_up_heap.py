"""Heap dumps (hprof) of made-up heaps, for tests of the tools without a JVM."""
import struct


class Heap:
    """Classes, objects and roots, written in the order in which they are added."""

    def __init__(self):
        self.records, self.segment, self.names, self.classes = [], [], {}, {}

    def _record(self, tag, body):
        self.records.append(struct.pack(">BII", tag, 0, len(body)) + body)

    def _name(self, text):
        if text not in self.names:
            self.names[text] = len(self.names) + 1
            self._record(0x01, struct.pack(">Q", self.names[text]) + text.encode())
        return self.names[text]

    def add_class(self, address, name, above=0, fields=(), statics=()):
        """fields: names of references; statics: (name, address)."""
        self._record(0x02, struct.pack(">IQIQ", len(self.classes) + 1, address, 0, self._name(name)))
        self.classes[address] = (above, fields)
        self.segment.append(struct.pack(">BQIQ5Q", 0x20, address, 0, above, 0, 0, 0, 0, 0) +
                            struct.pack(">IHH", 8 * len(fields), 0, len(statics)) +
                            b"".join(struct.pack(">QBQ", self._name(n), 2, to) for n, to in statics) +
                            struct.pack(">H", len(fields)) + b"".join(struct.pack(">QB", self._name(n), 2) for n in fields))

    def add_object(self, address, of, values=()):
        self.segment.append(struct.pack(f">BQIQI{len(values)}Q", 0x21, address, 0, of, 8 * len(values), *values))

    def add_array(self, address, of, elements):
        self.segment.append(struct.pack(f">BQIIQ{len(elements)}Q", 0x22, address, 0, len(elements), of, *elements))

    def add_bytes(self, address, content):
        self.segment.append(struct.pack(">BQIIB", 0x23, address, 0, len(content), 8) + content)

    def add_root(self, address):
        self.segment.append(struct.pack(">BQ", 0xff, address))

    def dump(self):
        segment = b"".join(self.segment)
        return (b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 8, 1) + b"".join(self.records) +
                struct.pack(">BII", 0x1c, 0, len(segment)) + segment + struct.pack(">BII", 0x2c, 0, 0))
