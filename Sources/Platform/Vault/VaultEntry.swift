internal import Bytes

/// A key in a vault with its attributes.
struct VaultEntry: Sendable {
    /// A property of a key.
    ///
    /// Types from 128 on are critical: a reader that does not know one must refuse the entry. Unknown other attributes are
    /// skipped, and written back unchanged.
    struct Attribute: Sendable, Hashable {
        var type: UInt8
        var value: [UInt8]

        /// Not critical: a reader that does not know it requires biometrics, which is stricter.
        static let acceptsPassword: UInt8 = 0x7F
        static let accessibleWhen: UInt8 = 0x81
        static let requireBiometric: UInt8 = 0x82
        static let accessGroup: UInt8 = 0x83

        var isCritical: Bool { type >= 0x80 }
    }

    /// The most attributes, with room for those of later versions.
    static let attributeLimit = 16
    static let attributeBytes = 1024

    var key: SecretBytes
    var accessControl: AccessControl
    /// Attributes that this version does not know, in ascending order.
    var others: [Attribute]

    init(key: SecretBytes, accessControl: AccessControl, others: [Attribute] = []) {
        self.key = key
        self.accessControl = accessControl
        self.others = others
        SystemMemory.keepResident(key)
    }

    /// All attributes in ascending order of their types.
    var attributes: [Attribute] {
        let when = UInt8(AccessibleWhen.allCases.firstIndex(of: accessControl.accessibleWhen) ?? 0)
        var attributes = others
        if accessControl.acceptsPassword { attributes.append(Attribute(type: Attribute.acceptsPassword, value: [])) }
        attributes.append(Attribute(type: Attribute.accessibleWhen, value: [when]))
        if accessControl.requireBiometric { attributes.append(Attribute(type: Attribute.requireBiometric, value: [])) }
        if let group = accessControl.accessGroup {
            attributes.append(Attribute(type: Attribute.accessGroup, value: [UInt8](group.utf8)))
        }
        return attributes
    }

    /// Takes attributes apart; each type stands there at most once.
    init(key: SecretBytes, attributes: [Attribute]) throws(BytesError) {
        self.init(key: key, accessControl: AccessControl())
        var isAccessKnown = false
        for attribute in attributes {
            switch attribute.type {
            case Attribute.acceptsPassword:
                guard attribute.value.isEmpty else { throw .invalidValue("what does in place of biometrics") }
                accessControl.acceptsPassword = true
            case Attribute.accessibleWhen:
                guard attribute.value.count == 1, attribute.value[0] < AccessibleWhen.allCases.count else {
                    throw .invalidValue("the state in which a key can be read")
                }
                accessControl.accessibleWhen = AccessibleWhen.allCases[Int(attribute.value[0])]
                isAccessKnown = true
            case Attribute.requireBiometric:
                guard attribute.value.isEmpty else { throw .invalidValue("the wish for biometrics") }
                accessControl.requireBiometric = true
            case Attribute.accessGroup:
                guard let group = String(utf8: attribute.value),
                    (1...KeyLimits.groupBytes).contains(attribute.value.count)
                else { throw .invalidValue("the access group") }
                accessControl.accessGroup = group
            case _ where attribute.isCritical:
                throw .invalidValue("a critical attribute of type \(attribute.type), which a newer version may know")
            default:
                others.append(attribute)
            }
        }
        guard isAccessKnown else { throw .invalidValue("no state in which a key can be read") }
    }
}

/// The sealed part of a vault: all entries in ascending order of their ids.
enum VaultBody {
    /// The plain bytes, in a buffer of exactly their size, so that growing leaves no copies.
    ///
    /// The caller wipes them.
    static func encode(_ entries: [String: VaultEntry]) -> [UInt8] {
        let sorted = entries.sorted { KeyLimits.areInOrder($0.key, $1.key) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(sorted.reduce(2) { $0 + byteCount(of: $1.value, id: $1.key) })
        append(UInt16(sorted.count), to: &bytes)
        for (id, entry) in sorted {
            bytes.append(UInt8(id.utf8.count))
            bytes.append(contentsOf: id.utf8)
            append(UInt16(entry.key.count), to: &bytes)
            unsafe entry.key.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
            let attributes = entry.attributes
            bytes.append(UInt8(attributes.count))
            for attribute in attributes {
                bytes.append(attribute.type)
                append(UInt16(attribute.value.count), to: &bytes)
                bytes.append(contentsOf: attribute.value)
            }
        }
        return bytes
    }

    /// The entries in `bytes`, which are the only encoding of them.
    static func decode(_ bytes: [UInt8]) throws(BytesError) -> [String: VaultEntry] {
        var reader = ByteReader(bytes)
        let count = Int(try reader.readUInt16())
        guard count <= KeyLimits.keys else { throw .tooLong(limit: KeyLimits.keys, found: count) }
        var entries: [String: VaultEntry] = [:]
        var last: String?
        for _ in 0..<count {
            let idBytes = try reader.readSlice(count: Int(try reader.readUInt8()))
            guard KeyLimits.isId(idBytes) else { throw .invalidValue("the id of a key") }
            let id = String(decoding: idBytes, as: UTF8.self)
            if let last, !KeyLimits.areInOrder(last, id) { throw .nonCanonical("the order of the keys") }
            last = id
            let keyByteCount = Int(try reader.readUInt16())
            guard (1...KeyLimits.keyBytes).contains(keyByteCount) else { throw .invalidValue("the length of a key") }
            let key = SecretBytes(copying: try reader.readSlice(count: keyByteCount))
            entries[id] = try VaultEntry(key: key, attributes: try attributes(from: &reader))
        }
        try reader.finish()
        return entries
    }

    private static func attributes(from reader: inout ByteReader) throws(BytesError) -> [VaultEntry.Attribute] {
        let count = Int(try reader.readUInt8())
        guard count <= VaultEntry.attributeLimit else {
            throw .tooLong(limit: VaultEntry.attributeLimit, found: count)
        }
        var attributes: [VaultEntry.Attribute] = []
        for _ in 0..<count {
            let type = try reader.readUInt8()
            if let last = attributes.last, last.type >= type { throw .nonCanonical("the order of attributes") }
            let byteCount = Int(try reader.readUInt16())
            guard byteCount <= VaultEntry.attributeBytes else {
                throw .tooLong(limit: VaultEntry.attributeBytes, found: byteCount)
            }
            attributes.append(VaultEntry.Attribute(type: type, value: try reader.readBytes(count: byteCount)))
        }
        return attributes
    }

    private static func byteCount(of entry: VaultEntry, id: String) -> Int {
        entry.attributes.reduce(1 + id.utf8.count + 2 + entry.key.count + 1) { $0 + 3 + $1.value.count }
    }

    private static func append(_ value: UInt16, to bytes: inout [UInt8]) {
        bytes.append(UInt8(value >> 8))
        bytes.append(UInt8(value & 0xFF))
    }
}
