/// A type that is written in our own way rather than through Codable.
internal protocol BincodeEncodable {
    /// Appends the value.
    func writeBincode(to output: BincodeOutput) throws
}

/// A type that is read in our own way rather than through Codable.
internal protocol BincodeDecodable {
    /// Reads a value.
    static func readBincode(from input: BincodeInput) throws -> Self
}

/// An integer that has the same width everywhere.
internal protocol BincodeInteger: FixedWidthInteger, BincodeEncodable, BincodeDecodable {}

extension BincodeInteger {
    func writeBincode(to output: BincodeOutput) {
        output.write(self)
    }

    static func readBincode(from input: BincodeInput) throws -> Self {
        try input.read()
    }
}

extension UInt8: BincodeInteger {}
extension UInt16: BincodeInteger {}
extension UInt32: BincodeInteger {}
extension UInt64: BincodeInteger {}
extension Int8: BincodeInteger {}
extension Int16: BincodeInteger {}
extension Int32: BincodeInteger {}
extension Int64: BincodeInteger {}

extension UInt: BincodeEncodable, BincodeDecodable {
    func writeBincode(to output: BincodeOutput) {
        output.write(UInt64(self))
    }

    static func readBincode(from input: BincodeInput) throws -> UInt {
        let value: UInt64 = try input.read()
        guard let number = UInt(exactly: value) else {
            throw BytesError.invalidValue("\(value) does not fit this system's integers")
        }
        return number
    }
}

extension Int: BincodeEncodable, BincodeDecodable {
    func writeBincode(to output: BincodeOutput) {
        output.write(Int64(self))
    }

    static func readBincode(from input: BincodeInput) throws -> Int {
        let value: Int64 = try input.read()
        guard let number = Int(exactly: value) else {
            throw BytesError.invalidValue("\(value) does not fit this system's integers")
        }
        return number
    }
}

extension Bool: BincodeEncodable, BincodeDecodable {
    func writeBincode(to output: BincodeOutput) {
        output.write(UInt8(self ? 1 : 0))
    }

    static func readBincode(from input: BincodeInput) throws -> Bool {
        switch try input.reader.readUInt8() {
        case 0: false
        case 1: true
        case let byte: throw BytesError.invalidValue("\(byte) where 0 or 1 says whether something is true")
        }
    }
}

extension Float: BincodeEncodable, BincodeDecodable {
    func writeBincode(to output: BincodeOutput) {
        output.write(bitPattern)
    }

    static func readBincode(from input: BincodeInput) throws -> Float {
        Float(bitPattern: try input.read())
    }
}

extension Double: BincodeEncodable, BincodeDecodable {
    func writeBincode(to output: BincodeOutput) {
        output.write(bitPattern)
    }

    static func readBincode(from input: BincodeInput) throws -> Double {
        Double(bitPattern: try input.read())
    }
}

extension String: BincodeEncodable, BincodeDecodable {
    func writeBincode(to output: BincodeOutput) {
        output.write(count: utf8.count)
        output.write(raw: utf8)
    }

    static func readBincode(from input: BincodeInput) throws -> String {
        let bytes = try input.reader.readSlice(count: input.readCount())
        let text = String(decoding: bytes, as: UTF8.self)
        // Decoding replaces invalid sequences, so the bytes differ.
        guard text.utf8.elementsEqual(bytes) else {
            throw BytesError.invalidUTF8
        }
        return text
    }
}
