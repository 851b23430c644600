internal import Bytes

/// Reads the fields of a NanoTDF; its errors name the field and its offset in the input.
struct NanoTDFReader {
    private var reader: ByteReader
    private let count: Int

    init(_ bytes: ArraySlice<UInt8>) {
        reader = ByteReader(bytes)
        count = bytes.count
    }

    /// The offset of the next byte.
    var offset: Int { count - reader.remaining }

    mutating func readUInt8(_ field: NanoTDFError.Field) throws(NanoTDFError) -> UInt8 {
        do { return try reader.readUInt8() } catch { throw truncation(of: field, error) }
    }

    mutating func readUInt16(_ field: NanoTDFError.Field) throws(NanoTDFError) -> Int {
        do { return Int(try reader.readUInt16()) } catch { throw truncation(of: field, error) }
    }

    mutating func readUInt24(_ field: NanoTDFError.Field) throws(NanoTDFError) -> Int {
        do { return try reader.readUInt24() } catch { throw truncation(of: field, error) }
    }

    mutating func readBytes(_ field: NanoTDFError.Field, count: Int) throws(NanoTDFError) -> [UInt8] {
        do { return try reader.readBytes(count: count) } catch { throw truncation(of: field, error) }
    }

    /// The error for a field that ends here and began `bytes` before.
    func refusal(of field: NanoTDFError.Field, bytes: Int, _ reason: String) -> NanoTDFError {
        .malformed(field: field, offset: offset - bytes, reason: reason)
    }

    /// Throws unless everything has been read.
    func finish() throws(NanoTDFError) {
        guard reader.isAtEnd else {
            throw .malformed(field: .end, offset: offset, reason: "\(reader.remaining) bytes follow the last field")
        }
    }

    private func truncation(of field: NanoTDFError.Field, _ error: BytesError) -> NanoTDFError {
        .malformed(field: field, offset: offset, reason: error.description)
    }
}
