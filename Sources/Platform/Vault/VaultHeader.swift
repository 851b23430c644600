internal import Bytes
internal import Crypto

/// The plain beginning of a vault, which the body's seal covers.
struct VaultHeader: Hashable {
    static let magic = [UInt8]("RUNARVLT".utf8)
    static let version = 1
    static let byteCount = 88
    static let saltBytes = 32
    static let keyCheckBytes = 16
    static let nonceBytes = 12
    static let tagBytes = 16
    /// So that a damaged count asks for no memory.
    static let bodyLimit = 8 << 20
    /// The largest file that is read at all.
    static let fileLimit = byteCount + bodyLimit

    private static let checksumBytes = 8
    /// The size of the prologue that begins every version: magic, version, header length.
    private static let prologueBytes = 12

    var derivation: VaultKeyDerivation
    var salt: [UInt8]
    var keyCheck: [UInt8]
    var nonce: [UInt8]
    var bodyByteCount: Int

    /// The header as it stands in the file, and as the seal covers it.
    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: Self.byteCount)
        writer.write(Self.magic)
        writer.write(UInt16(Self.version))
        writer.write(UInt16(Self.byteCount))
        switch derivation {
        case .scrypt(let log2Rounds):
            writer.write([1, log2Rounds, VaultKeyDerivation.blockSize, VaultKeyDerivation.parallelism])
        case .keyFile:
            writer.write([2, 0, 0, 0])
        }
        writer.write(salt)
        writer.write(keyCheck)
        writer.write(nonce)
        writer.write(UInt32(bodyByteCount))
        writer.write(Self.checksum(of: writer.bytes))
        return writer.bytes
    }

    init(
        derivation: VaultKeyDerivation,
        salt: [UInt8],
        keyCheck: [UInt8],
        nonce: [UInt8],
        bodyByteCount: Int
    ) {
        self.derivation = derivation
        self.salt = salt
        self.keyCheck = keyCheck
        self.nonce = nonce
        self.bodyByteCount = bodyByteCount
    }

    /// Reads the header of `file`, a whole vault, and checks that the body is complete.
    ///
    /// No work depends on it before.
    init(readingFrom file: [UInt8], path: String) throws(KeychainError) {
        try Self.checkPrologue(of: file, path: path)
        var reader = ByteReader(file[Self.prologueBytes...])
        do {
            derivation = try Self.derivation(from: &reader, path: path)
            salt = try reader.readBytes(count: Self.saltBytes)
            keyCheck = try reader.readBytes(count: Self.keyCheckBytes)
            nonce = try reader.readBytes(count: Self.nonceBytes)
            bodyByteCount = Int(try reader.readUInt32())
        } catch let error as KeychainError {
            throw error
        } catch {
            throw .corrupted(path: path, location: "header: \(error)")
        }
        let found = file.count - Self.byteCount
        guard found >= bodyByteCount else {
            throw .corrupted(path: path, location: "only \(found) of \(bodyByteCount) bytes of the body are there")
        }
        guard found == bodyByteCount else {
            throw .corrupted(path: path, location: "\(found - bodyByteCount) bytes follow the end")
        }
        guard bodyByteCount >= Self.tagBytes, bodyByteCount <= Self.bodyLimit else {
            throw .corrupted(path: path, location: "header: a body of \(bodyByteCount) bytes")
        }
    }

    /// Checks the format of every version: the magic, and a header of the stated length that ends in its checksum.
    ///
    /// A newer version is only reported if the header's checksum is correct.
    private static func checkPrologue(of file: [UInt8], path: String) throws(KeychainError) {
        guard file.starts(with: magic) || (file.count < magic.count && magic.starts(with: file)) else {
            throw .foreign(path: path)
        }
        guard file.count >= prologueBytes else {
            throw .corrupted(path: path, location: "the file ends after \(file.count) bytes")
        }
        let version = Int(file[8]) << 8 | Int(file[9])
        let length = Int(file[10]) << 8 | Int(file[11])
        guard length >= prologueBytes + checksumBytes, length <= file.count else {
            throw .corrupted(path: path, location: "header: \(length) bytes long in a file of \(file.count)")
        }
        let sum = checksum(of: file[..<(length - checksumBytes)])
        guard file[(length - checksumBytes)..<length].elementsEqual(sum) else {
            throw .corrupted(path: path, location: "header: wrong checksum")
        }
        guard version <= Self.version else {
            throw .newerVersion(path: path, found: version, supported: Self.version)
        }
        guard version == Self.version, length == byteCount else {
            throw .corrupted(path: path, location: "header: version \(version) with \(length) bytes")
        }
    }

    private static func derivation(from reader: inout ByteReader, path: String) throws -> VaultKeyDerivation {
        let fields = try reader.readBytes(count: 4)
        switch fields[0] {
        case 1:
            let isFixed = fields[2] == VaultKeyDerivation.blockSize && fields[3] == VaultKeyDerivation.parallelism
            guard isFixed, VaultKeyDerivation.acceptedLog2Rounds.contains(fields[1]) else {
                let found = "N = 2^\(fields[1]), r = \(fields[2]), p = \(fields[3])"
                throw KeychainError.corrupted(path: path, location: "header: scrypt with \(found)")
            }
            return .scrypt(log2Rounds: fields[1])
        case 2 where fields[1...] == [0, 0, 0]:
            return .keyFile
        default:
            throw KeychainError.corrupted(path: path, location: "header: unknown key derivation")
        }
    }

    static func checksum(of bytes: some Collection<UInt8>) -> [UInt8] {
        [UInt8](SHA256.hash(data: [UInt8](bytes)).prefix(checksumBytes))
    }
}
