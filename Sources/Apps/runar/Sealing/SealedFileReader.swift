internal import CommandModel
internal import NanoTDF
internal import NodeModel
internal import NodeService

/// Opens a sealed file of any size, part by part.
struct SealedFileReader {
    private var parts: PartReader
    private var opener: NanoTDFStreamOpener
    private let creator: NanoTDFPublicKey?

    /// Begins at the first part; each must have the signature of `creator`, if one is given.
    init(_ file: InputFile, key: NanoTDFPrivateKey, creator: NanoTDFPublicKey?) {
        parts = PartReader(file)
        opener = NanoTDFStreamOpener(key: key)
        self.creator = creator
    }

    /// Whether the last part was opened.
    var isEnded: Bool { opener.isEnded }

    /// Opens the next part; nil after the last one, and for an empty file.
    ///
    /// - Throws: ``NanoTDFError``, also if more bytes follow the last part, or if parts are missing; ``CommandFailure``
    ///   for another creator; ``FileError``.
    mutating func next() throws -> (file: NanoTDF, opened: OpenedNanoTDF)? {
        guard !opener.isEnded else { return nil }
        let isFirst = parts.offset == 0
        guard let part = try parts.next() else {
            if !isFirst { try opener.finish() }
            return nil
        }
        let opened = try opener.open(part)
        if let creator, opened.creator != creator {
            let found = opened.creator == nil ? "it has no signature" : "another key signed it"
            throw CommandFailure("wrong-creator", .data, "the file is not of the creator that you expect: \(found)")
        }
        guard try !opener.isEnded || parts.isAtEnd else {
            throw NanoTDFError.malformed(field: .end, offset: parts.offset, reason: "more bytes follow the last part")
        }
        return (part, opened)
    }
}
