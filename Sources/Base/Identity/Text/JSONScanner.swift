/// Walks once over UTF-8 bytes by the grammar of RFC 8259.
struct JSONScanner {
    private let bytes: [UInt8]
    private let limits: JSONLimits
    private var position = 0

    init(_ bytes: [UInt8], limits: JSONLimits) {
        self.bytes = bytes
        self.limits = limits
    }

    /// Reads one object and nothing but white space around it.
    mutating func scanDocument() throws(JSONProblem) -> [JSONField] {
        skipSpace()
        guard peek == UInt8(ascii: "{") else { throw .notAnObject }
        let fields = try scanObject(depth: 1)
        skipSpace()
        guard position == bytes.count else { throw problem }
        return fields
    }

    private mutating func scanObject(depth: Int) throws(JSONProblem) -> [JSONField] {
        position += 1
        var fields: [JSONField] = []
        skipSpace()
        if take(UInt8(ascii: "}")) { return fields }
        while true {
            skipSpace()
            let name = try scanString()
            guard !fields.contains(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
                throw .duplicateField(name)
            }
            guard fields.count < limits.fieldCount else { throw .tooManyFields }
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw problem }
            fields.append(JSONField(name: name, value: try scanValue(depth: depth)))
            skipSpace()
            if take(UInt8(ascii: "}")) { return fields }
            guard take(UInt8(ascii: ",")) else { throw problem }
        }
    }

    private mutating func scanArray(depth: Int) throws(JSONProblem) -> [JSONValue] {
        position += 1
        var elements: [JSONValue] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return elements }
        for _ in 0..<limits.fieldCount {
            elements.append(try scanValue(depth: depth))
            skipSpace()
            if take(UInt8(ascii: "]")) { return elements }
            guard take(UInt8(ascii: ",")) else { throw problem }
        }
        throw .tooManyFields
    }

    private mutating func scanValue(depth: Int) throws(JSONProblem) -> JSONValue {
        skipSpace()
        switch peek {
        case UInt8(ascii: "\""):
            return .string(try scanString())
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard depth < limits.depth else { throw .tooDeep }
            if peek == UInt8(ascii: "{") { return .object(try scanObject(depth: depth + 1)) }
            return .array(try scanArray(depth: depth + 1))
        case UInt8(ascii: "n"):
            try expect("null")
            return .null
        case UInt8(ascii: "t"):
            try expect("true")
            return .boolean(true)
        case UInt8(ascii: "f"):
            try expect("false")
            return .boolean(false)
        default:
            return try scanNumber()
        }
    }

    private mutating func scanNumber() throws(JSONProblem) -> JSONValue {
        let start = position
        let isNegative = take(UInt8(ascii: "-"))
        let digitsStart = position
        skipDigits()
        let digits = bytes[digitsStart..<position]
        guard !digits.isEmpty, digits.count == 1 || digits.first != UInt8(ascii: "0") else { throw problem }
        var isWhole = true
        if take(UInt8(ascii: ".")) {
            isWhole = false
            try requireDigits()
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isWhole = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try requireDigits()
        }
        guard isWhole, !isNegative, let number = UInt64(String(decoding: digits, as: UTF8.self)) else {
            return .number(String(decoding: bytes[start..<position], as: UTF8.self))
        }
        return .integer(number)
    }

    private mutating func requireDigits() throws(JSONProblem) {
        let start = position
        skipDigits()
        guard position > start else { throw problem }
    }

    private mutating func skipDigits() {
        while let peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(peek) { position += 1 }
    }

    private mutating func scanString() throws(JSONProblem) -> String {
        guard take(UInt8(ascii: "\"")) else { throw problem }
        var content: [UInt8] = []
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"):
                position += 1
                content += String(try scanEscape()).utf8
            case 0..<0x20:
                throw problem
            default:
                content.append(byte)
                position += 1
            }
        }
        throw problem
    }

    private mutating func scanEscape() throws(JSONProblem) -> Character {
        let escaped = peek
        position += 1
        switch escaped {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return Character(try scanUnicodeEscape())
        default: throw problem
        }
    }

    /// Reads four digits, or a pair of surrogates; a lone one is refused.
    private mutating func scanUnicodeEscape() throws(JSONProblem) -> Unicode.Scalar {
        let first = try scanFourDigits()
        guard (0xD800...0xDBFF).contains(first) else {
            guard let scalar = Unicode.Scalar(first) else { throw problem }
            return scalar
        }
        guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else { throw problem }
        let second = try scanFourDigits()
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw problem }
        return scalar
    }

    private mutating func scanFourDigits() throws(JSONProblem) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let peek, peek < 0x80, let digit = Character(Unicode.Scalar(peek)).hexDigitValue else {
                throw problem
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private var problem: JSONProblem { .notJSON(at: min(position, bytes.count)) }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ word: String) throws(JSONProblem) {
        for byte in word.utf8 {
            guard take(byte) else { throw problem }
        }
    }

    private mutating func skipSpace() {
        while let peek, peek == 0x20 || peek == 0x09 || peek == 0x0A || peek == 0x0D { position += 1 }
    }
}
