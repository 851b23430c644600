package import Bytes

/// The data that an authenticator signs (Web Authentication Level 3, section 6.1).
package struct AuthenticatorData: Hashable, Sendable {
    /// The most bytes; without extensions, a credential with an RSA key has about 1,600.
    package static let maximumByteCount = 8_192
    /// The most bytes of a credential id.
    package static let credentialIdByteLimit = 1_023
    /// Size of an AAGUID in bytes.
    package static let aaguidByteCount = 16

    /// Statements of the authenticator; bits without a meaning are ignored.
    package struct Flags: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        package static let userPresent = Flags(rawValue: 0x01)
        package static let userVerified = Flags(rawValue: 0x04)
        package static let backupEligible = Flags(rawValue: 0x08)
        package static let backedUp = Flags(rawValue: 0x10)
        package static let hasAttestedCredential = Flags(rawValue: 0x40)
        package static let hasExtensions = Flags(rawValue: 0x80)
    }

    /// A new credential (section 6.5.1).
    package struct AttestedCredential: Hashable, Sendable {
        /// The model of the authenticator, or zeros.
        package let aaguid: [UInt8]
        package let id: [UInt8]
        package let publicKey: COSEKey
    }

    /// The SHA-256 of the relying party's id.
    package let relyingPartyIdHash: [UInt8]
    package let flags: Flags
    package let signCount: UInt32
    package let attestedCredential: AttestedCredential?
    /// The outputs of extensions by their names.
    package let extensions: [CBORItem: CBORItem]

    /// Reads data that take up all of `bytes`.
    package init(_ bytes: [UInt8]) throws(WebAuthnError) {
        guard bytes.count <= Self.maximumByteCount else {
            throw .tooLong(Self.subject, limit: Self.maximumByteCount, found: bytes.count)
        }
        var reader = ByteReader(bytes)
        do {
            relyingPartyIdHash = try reader.readBytes(count: 32)
            flags = Flags(rawValue: try reader.readUInt8())
            signCount = try reader.readUInt32()
            attestedCredential =
                flags.contains(.hasAttestedCredential) ? try Self.readCredential(from: &reader) : nil
            extensions = flags.contains(.hasExtensions) ? try Self.readExtensions(from: &reader) : [:]
            try reader.finish()
        } catch let error as WebAuthnError {
            throw error
        } catch {
            throw .malformed(of: Self.subject, reason: "\(error)")
        }
    }

    private static let subject = "the authenticator data"

    private static func readCredential(from reader: inout ByteReader) throws -> AttestedCredential {
        let aaguid = try reader.readBytes(count: aaguidByteCount)
        let count = Int(try reader.readUInt16())
        guard count <= credentialIdByteLimit else {
            throw WebAuthnError.tooLong("the id of the passkey", limit: credentialIdByteLimit, found: count)
        }
        guard count > 0 else { throw WebAuthnError.malformed(of: "the id of the passkey", reason: "it is empty") }
        let id = try reader.readBytes(count: count)
        let key = try reader.readCBORItem(maximumDepth: 1)
        return AttestedCredential(aaguid: aaguid, id: id, publicKey: try COSEKey(key))
    }

    private static func readExtensions(from reader: inout ByteReader) throws -> [CBORItem: CBORItem] {
        let item = try reader.readCBORItem(maximumDepth: AttestationObject.maximumDepth)
        guard let outputs = item.map, !outputs.isEmpty, outputs.keys.allSatisfy({ $0.text != nil }) else {
            throw BytesError.invalidValue("the extensions are not a map of names with at least one entry")
        }
        return outputs
    }
}
