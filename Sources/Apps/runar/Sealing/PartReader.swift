internal import NanoTDF

/// Reads NanoTDFs, one after another, from a file of any size.
struct PartReader: ~Copyable {
    private let file: InputFile
    private var buffer: [UInt8] = []
    /// The offset of the buffer in the file.
    private(set) var offset = 0

    init(_ file: consuming InputFile) {
        self.file = file
    }

    /// Whether the file begins with the magic number of a NanoTDF, of any version.
    var isNanoTDF: Bool {
        mutating get throws {
            try fill()
            return buffer.starts(with: [0x4C, 0x31])
        }
    }

    /// Whether nothing is left.
    var isAtEnd: Bool {
        mutating get throws {
            try fill()
            return buffer.isEmpty
        }
    }

    /// The next part; nil at the end of the file.
    ///
    /// - Throws: ``NanoTDFError`` with an offset in the file; ``FileError``.
    mutating func next() throws -> NanoTDF? {
        guard try !isAtEnd else { return nil }
        do {
            let (part, byteCount) = try NanoTDF.first(in: buffer)
            buffer.removeFirst(byteCount)
            offset += byteCount
            return part
        } catch .malformed(let field, let place, let reason) {
            throw NanoTDFError.malformed(field: field, offset: offset + place, reason: reason)
        }
    }

    /// Everything that is left, if it has at most `limit` bytes; else one byte more.
    consuming func rest(limit: Int) throws -> [UInt8] {
        try fill()
        return buffer.count > limit ? buffer : try buffer + file.read(limit + 1 - buffer.count)
    }

    private mutating func fill() throws {
        guard buffer.count < NanoTDF.byteLimit else { return }
        buffer += try file.read(NanoTDF.byteLimit - buffer.count)
    }
}
