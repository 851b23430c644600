/// The elements that are reserved for at once; beyond them, memory grows only with elements that were really there.
private let maximumReservation = 1_024

extension Optional: BincodeEncodable where Wrapped: Encodable {
    func writeBincode(to output: BincodeOutput) throws {
        guard let value = self else {
            output.write(UInt8(0))
            return
        }
        output.write(UInt8(1))
        try output.nested { try output.encode(value) }
    }
}

extension Optional: BincodeDecodable where Wrapped: Decodable {
    static func readBincode(from input: BincodeInput) throws -> Wrapped? {
        guard try input.readIsPresent() else {
            return nil
        }
        return try input.nested { try input.decode(Wrapped.self) }
    }
}

extension Array: BincodeEncodable where Element: Encodable {
    func writeBincode(to output: BincodeOutput) throws {
        output.write(count: count)
        // Through Any the whole array is cast at once, and not each element.
        if Element.self == UInt8.self, let bytes = self as Any as? [UInt8] {
            output.write(raw: bytes)
            return
        }
        try output.nested {
            for element in self {
                try output.encodeElement(element)
            }
        }
    }
}

extension Array: BincodeDecodable where Element: Decodable {
    static func readBincode(from input: BincodeInput) throws -> [Element] {
        let count = try input.readCount()
        if Element.self == UInt8.self, let bytes = try input.reader.readBytes(count: count) as Any as? [Element] {
            return bytes
        }
        return try input.nested {
            var elements: [Element] = []
            elements.reserveCapacity(Swift.min(count, maximumReservation))
            for _ in 0..<count {
                elements.append(try input.decodeElement(Element.self))
            }
            return elements
        }
    }
}

extension Set: BincodeEncodable where Element: Encodable {
    func writeBincode(to output: BincodeOutput) throws {
        output.write(count: count)
        try output.nested {
            let elements = try map { element in
                try output.separately { try output.encodeElement(element) }
            }
            for element in elements.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                output.write(raw: element)
            }
        }
    }
}

extension Set: BincodeDecodable where Element: Decodable {
    static func readBincode(from input: BincodeInput) throws -> Set<Element> {
        let count = try input.readCount()
        return try input.nested {
            var elements: Set<Element> = []
            elements.reserveCapacity(Swift.min(count, maximumReservation))
            for _ in 0..<count {
                guard elements.insert(try input.decodeElement(Element.self)).inserted else {
                    throw BytesError.nonCanonical("an element of a set occurs twice")
                }
            }
            return elements
        }
    }
}

extension Dictionary: BincodeEncodable where Key: Encodable, Value: Encodable {
    func writeBincode(to output: BincodeOutput) throws {
        output.write(count: count)
        try output.nested {
            let entries = try map { entry in
                (
                    key: try output.separately { try output.encodeElement(entry.key) },
                    value: try output.separately { try output.encode(entry.value) }
                )
            }
            for entry in entries.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
                output.write(raw: entry.key)
                output.write(raw: entry.value)
            }
        }
    }
}

extension Dictionary: BincodeDecodable where Key: Decodable, Value: Decodable {
    static func readBincode(from input: BincodeInput) throws -> [Key: Value] {
        let count = try input.readCount()
        return try input.nested {
            var entries: [Key: Value] = [:]
            entries.reserveCapacity(Swift.min(count, maximumReservation))
            for _ in 0..<count {
                let key = try input.decodeElement(Key.self)
                let value = try input.decode(Value.self)
                guard entries.updateValue(value, forKey: key) == nil else {
                    throw BytesError.nonCanonical("a key of a dictionary occurs twice")
                }
            }
            return entries
        }
    }
}
