/// Seals a file of any size as a stream of NanoTDFs, its parts.
///
/// The parts have one header, and IVs that count 1, 2, 3 … The nonce of each also encodes whether another part precedes and
/// follows it, so a part that is missing, repeated or out of order does not open. Other programs do not read the parts.
public struct NanoTDFStreamSealer: ~Copyable, Sendable {
    private let sealer: NanoTDFSealer
    private var counter = IVCounter()
    private var isEnded = false

    /// Takes the header over.
    public init(_ sealer: consuming NanoTDFSealer) {
        self.sealer = sealer
    }

    /// The most bytes that a part has: 16 MiB less 4 bytes and those of the tag.
    public var partByteLimit: Int { sealer.plaintextByteLimit }

    /// Seals the next part; a file of one part only becomes an ordinary NanoTDF.
    ///
    /// - Throws: ``NanoTDFError/tooLarge(limit:found:)`` for more than ``partByteLimit`` bytes, and
    ///   ``NanoTDFError/exhausted`` after the last part, or after 16,777,215 parts. A part that is too large leaves the
    ///   stream as it was.
    public mutating func seal(_ part: [UInt8], isLast: Bool) throws(NanoTDFError) -> NanoTDF {
        guard !isEnded else { throw .exhausted }
        guard part.count <= partByteLimit else { throw .tooLarge(limit: partByteLimit, found: part.count) }
        let iv = try counter.next()
        let place: StreamPlace =
            switch (iv == 1, isLast) {
            case (true, true): .whole
            case (true, false): .first
            case (false, false): .middle
            case (false, true): .last
            }
        let sealed = try sealer.seal(part, iv: iv, place: place)
        isEnded = isLast
        return sealed
    }

    /// Seals a whole file: the bytes of all its parts.
    ///
    /// - Throws: ``NanoTDFError/exhausted`` if parts were sealed before and one of them was the last.
    public consuming func seal(whole plaintext: [UInt8]) throws(NanoTDFError) -> [UInt8] {
        var sealed: [UInt8] = []
        var rest = plaintext[...]
        repeat {
            let part = rest.prefix(partByteLimit)
            rest = rest.dropFirst(partByteLimit)
            sealed += try seal(Array(part), isLast: rest.isEmpty).bytes
        } while !rest.isEmpty
        return sealed
    }
}

/// Opens the parts of a file in their order; an ordinary NanoTDF is a file of one part.
public struct NanoTDFStreamOpener: Sendable {
    private let key: NanoTDFPrivateKey
    private var opener: NanoTDFOpener?
    private var creator: NanoTDFPublicKey?
    private var count = 0
    /// Whether the last part has been opened.
    public private(set) var isEnded = false

    /// Begins without a header; the first part brings it.
    public init(key: NanoTDFPrivateKey) {
        self.key = key
    }

    /// Opens the next part.
    ///
    /// - Throws: ``NanoTDFError/brokenStream(part:reason:)`` for a part that does not continue the file, and the errors of
    ///   ``NanoTDFOpener``.
    public mutating func open(_ part: NanoTDF) throws(NanoTDFError) -> OpenedNanoTDF {
        let number = count + 1
        guard !isEnded else { throw .brokenStream(part: number, reason: "the part before was the last") }
        try NanoTDFOpener.verifyCreator(of: part)
        let (opened, isLast) =
            if let opener {
                try open(part, after: opener, number: number)
            } else {
                try openFirst(part)
            }
        count = number
        isEnded = isLast
        return opened
    }

    /// Opens a whole file with all its parts; returns the plaintext, and the first part with its verified properties.
    ///
    /// - Throws: ``NanoTDFError``, with an offset in the file; also if parts are missing, or if more bytes follow the last.
    public static func open(
        whole file: [UInt8],
        with key: NanoTDFPrivateKey
    ) throws(NanoTDFError) -> (plaintext: [UInt8], first: OpenedNanoTDF) {
        var opener = NanoTDFStreamOpener(key: key)
        var (offset, found) = (0, OpenedNanoTDF?.none)
        var plaintext: [UInt8] = []
        while !opener.isEnded {
            guard offset < file.count || found == nil else { throw opener.missingPart }
            let (part, byteCount) = try next(in: file, at: offset)
            let opened = try opener.open(part)
            offset += byteCount
            plaintext += opened.plaintext
            found = found ?? opened
        }
        guard let found, offset == file.count else {
            throw .malformed(field: .end, offset: offset, reason: "more bytes follow the last part")
        }
        return (plaintext, found)
    }

    private static func next(
        in file: [UInt8],
        at offset: Int
    ) throws(NanoTDFError) -> (file: NanoTDF, byteCount: Int) {
        do {
            return try NanoTDF.first(in: file[offset...])
        } catch {
            throw error.moved(by: offset)
        }
    }

    /// Checks that the last part has been opened.
    ///
    /// - Throws: ``NanoTDFError/brokenStream(part:reason:)`` if parts are missing.
    public func finish() throws(NanoTDFError) {
        guard isEnded else { throw missingPart }
    }

    private var missingPart: NanoTDFError { .brokenStream(part: count + 1, reason: "it is missing") }

    private mutating func openFirst(_ part: NanoTDF) throws(NanoTDFError) -> (OpenedNanoTDF, isLast: Bool) {
        let opener = try NanoTDFOpener(part.header, key: key)
        let (opened, isWhole) = try opener.openFirst(part)
        guard isWhole || part.payload.iv == [0, 0, 1] else {
            throw .brokenStream(part: 1, reason: "its IV is not 1")
        }
        self.opener = opener
        creator = opened.creator
        return (opened, isLast: isWhole)
    }

    private func open(
        _ part: NanoTDF,
        after opener: NanoTDFOpener,
        number: Int
    ) throws(NanoTDFError) -> (OpenedNanoTDF, isLast: Bool) {
        guard part.header == opener.header else {
            throw .brokenStream(part: number, reason: "its header differs")
        }
        guard part.payload.iv.reduce(0, { $0 << 8 | Int($1) }) == number else {
            throw .brokenStream(part: number, reason: "its IV is not \(number)")
        }
        guard part.signature?.creator == creator else {
            throw .brokenStream(part: number, reason: "its creator differs")
        }
        for place in [StreamPlace.middle, .last] {
            guard let opened = try opener.open(part, at: place) else { continue }
            return (opened, isLast: place == .last)
        }
        throw .authenticationFailed
    }
}
