extension IPAddress: LosslessStringConvertible {
    /// Reads `192.0.2.1`, `2001:db8::1` or `fe80::1%3`; names of interfaces and of hosts are not looked up.
    public init?(_ text: String) {
        // The longest IPv6 text with an embedded IPv4 address and a ten-digit scope.
        guard text.utf8.count <= 56 else { return nil }
        let characters = Array(text.utf8)
        if let word = Self.word(ofIPv4: characters[...]) {
            self = .v4(word)
            return
        }
        var address = characters[...]
        var scope: UInt32 = 0
        if let percent = characters.firstIndex(of: UInt8(ascii: "%")) {
            guard let number = Self.decimal(characters[(percent + 1)...], limit: UInt64(UInt32.max)) else { return nil }
            scope = UInt32(number)
            address = characters[..<percent]
        }
        guard let groups = Self.groups(ofIPv6: address) else { return nil }
        let high = groups[..<4].reduce(UInt64(0)) { $0 << 16 | UInt64($1) }
        let low = groups[4...].reduce(UInt64(0)) { $0 << 16 | UInt64($1) }
        self = .v6(high: high, low: low, scope: scope)
    }

    /// The text of RFC 5952: lower case, no leading zeros, the longest run of zero groups shortened.
    public var description: String {
        switch self {
        case .v4(let word):
            return Self.dotted(word)
        case .v6(let high, let low, let scope):
            let suffix = scope == 0 ? "" : "%\(scope)"
            if high == 0, low >> 32 == 0xFFFF {
                return "::ffff:" + Self.dotted(UInt32(truncatingIfNeeded: low)) + suffix
            }
            return Self.colonSeparated(high: high, low: low) + suffix
        }
    }

    private static func dotted(_ word: UInt32) -> String {
        "\(word >> 24).\(word >> 16 & 0xFF).\(word >> 8 & 0xFF).\(word & 0xFF)"
    }

    private static func colonSeparated(high: UInt64, low: UInt64) -> String {
        let groups = (0..<8).map { index in
            UInt16(truncatingIfNeeded: (index < 4 ? high : low) >> UInt64(48 - 16 * (index % 4)))
        }
        func text(_ part: some Sequence<UInt16>) -> String {
            part.map { String($0, radix: 16) }.joined(separator: ":")
        }
        guard let zeros = longestZeroRun(groups) else { return text(groups) }
        return text(groups[..<zeros.lowerBound]) + "::" + text(groups[zeros.upperBound...])
    }

    /// The first of the longest runs of at least two zero groups.
    private static func longestZeroRun(_ groups: [UInt16]) -> Range<Int>? {
        var longest = 0..<1
        var start = 0
        for index in 0...groups.count where index == groups.count || groups[index] != 0 {
            if index - start > longest.count { longest = start..<index }
            start = index + 1
        }
        return longest.count >= 2 ? longest : nil
    }

    /// Reads four decimal numbers without leading zeros (which some systems take for octal).
    private static func word(ofIPv4 text: ArraySlice<UInt8>) -> UInt32? {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var word: UInt32 = 0
        for part in parts {
            guard let number = decimal(part, limit: 255) else { return nil }
            word = word << 8 | UInt32(number)
        }
        return word
    }

    private static func groups(ofIPv6 text: ArraySlice<UInt8>) -> [UInt16]? {
        let colon = UInt8(ascii: ":")
        var gap: Int?
        var index = text.startIndex
        while index + 1 < text.endIndex {
            if text[index] == colon, text[index + 1] == colon {
                guard gap == nil else { return nil }
                gap = index
            }
            index += 1
        }
        guard let gap else {
            guard let all = groups(ofPart: text, mayEndInIPv4: true), all.count == 8 else { return nil }
            return all
        }
        let tail = text[(gap + 2)...]
        guard let left = groups(ofPart: text[..<gap], mayEndInIPv4: false),
            let right = groups(ofPart: tail, mayEndInIPv4: true),
            left.count + right.count < 8
        else { return nil }
        return left + Array(repeating: 0, count: 8 - left.count - right.count) + right
    }

    private static func groups(ofPart text: ArraySlice<UInt8>, mayEndInIPv4: Bool) -> [UInt16]? {
        guard !text.isEmpty else { return [] }
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count <= 8 else { return nil }
        var groups: [UInt16] = []
        for (index, part) in parts.enumerated() {
            if mayEndInIPv4, index == parts.count - 1, let word = word(ofIPv4: part) {
                groups += [UInt16(truncatingIfNeeded: word >> 16), UInt16(truncatingIfNeeded: word)]
            } else if let group = hexadecimal(part) {
                groups.append(group)
            } else {
                return nil
            }
        }
        return groups
    }

    private static func hexadecimal(_ text: ArraySlice<UInt8>) -> UInt16? {
        guard (1...4).contains(text.count) else { return nil }
        var value: UInt16 = 0
        for character in text {
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt16(character - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt16(character - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | UInt16(character - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        return value
    }

    /// Reads digits without sign or leading zeros, up to `limit`.
    static func decimal(_ text: ArraySlice<UInt8>, limit: UInt64) -> UInt64? {
        guard (1...10).contains(text.count), text.count == 1 || text.first != UInt8(ascii: "0") else { return nil }
        var value: UInt64 = 0
        for character in text {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) else { return nil }
            value = value * 10 + UInt64(character - UInt8(ascii: "0"))
        }
        return value <= limit ? value : nil
    }
}
