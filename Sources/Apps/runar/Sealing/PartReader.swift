internal import NanoTDF

/// Reads NanoTDFs, one after another, from a file of any size.
struct PartReader {
    private let file: InputFile
    /// Bytes of the file from ``bufferOffset`` on.
    private var buffer: [UInt8] = []
    private var bufferOffset = 0
    /// The place of the next part in the buffer.
    private var position = 0
    private var isComplete = false

    init(_ file: InputFile) {
        self.file = file
    }

    /// The offset of the next part in the file.
    var offset: Int { bufferOffset + position }

    /// Whether the file begins like a NanoTDF of any version, and is more than a text.
    var isNanoTDF: Bool {
        mutating get throws {
            if buffer.isEmpty { try fill() }
            return buffer.starts(with: [0x4C, 0x31]) && !buffer.prefix(1 << 16).allSatisfy(Self.isText)
        }
    }

    private static func isText(_ byte: UInt8) -> Bool { 0x20...0x7E ~= byte || 0x09...0x0D ~= byte }

    /// Whether nothing is left.
    var isAtEnd: Bool {
        mutating get throws {
            if position == buffer.count { try fill() }
            return position == buffer.count
        }
    }

    /// The next part; nil at the end of the file.
    ///
    /// - Throws: ``NanoTDFError`` with an offset in the file; ``FileError``.
    mutating func next() throws -> NanoTDF? {
        guard try !isAtEnd else { return nil }
        var found = try parse()
        if found == nil {
            try fill()
            found = try parse()
        }
        guard let found else { preconditionFailure("a part does not fit into the buffer") }
        position += found.byteCount
        return found.part
    }

    /// Reads the next part; nil if perhaps only its beginning is in the buffer.
    private func parse() throws(NanoTDFError) -> (part: NanoTDF, byteCount: Int)? {
        do {
            let (part, byteCount) = try NanoTDF.first(in: buffer[position...])
            return (part, byteCount)
        } catch {
            guard isComplete || buffer.count - position >= NanoTDF.byteLimit else { return nil }
            throw error.moved(by: offset)
        }
    }

    /// Everything that is left, if it has at most `limit` bytes; else one byte more.
    func rest(limit: Int) throws -> [UInt8] {
        let bytes = Array(buffer[position...])
        return bytes.count > limit ? bytes : try bytes + file.read(limit + 1 - bytes.count)
    }

    /// Drops the parts that were read, and reads on until there is room for no larger part, or to the end.
    private mutating func fill() throws {
        guard !isComplete else { return }
        bufferOffset += position
        buffer.removeFirst(position)
        position = 0
        let missing = NanoTDF.byteLimit - buffer.count
        let bytes = try file.read(missing)
        buffer += bytes
        isComplete = bytes.count < missing
    }
}
