/// A key of a terminal, or a text that was pasted.
enum Key: Hashable, Sendable {
    case character(Character)
    case paste(String)
    case enter
    /// Alt-Return or Control-J.
    case newline
    case backspace
    case delete
    case left
    case right
    case up
    case down
    case home
    case end
    case pageUp
    case pageDown
    case escape
    /// Control and a letter.
    case control(Character)
}

/// Reads keys from the bytes of a terminal, as xterm sends them.
struct KeyParser {
    /// The state between two bytes.
    private enum State {
        case ground
        /// After ESC.
        case escape
        /// After ESC O.
        case singleShift
        /// After ESC [, with the parameters so far.
        case sequence([UInt8])
        /// Between the marks of a paste, with its bytes so far.
        case paste([UInt8])
        /// In a character, with the bytes so far and the number of those that follow.
        case character([UInt8], Int)
    }

    /// The most bytes of a paste; the rest of it is dropped.
    static let pasteLimit = 192 * 1_024
    private static let parameterLimit = 32
    private static let pasteEnd: [UInt8] = Array("\u{1B}[201~".utf8)

    private var state = State.ground

    /// Reads the next bytes; a lone ESC at their end is the key.
    mutating func keys(in bytes: some Sequence<UInt8>) -> [Key] {
        var keys: [Key] = []
        for byte in bytes { read(byte, &keys) }
        if case .escape = state {
            state = .ground
            keys.append(.escape)
        }
        return keys
    }

    private mutating func read(_ byte: UInt8, _ keys: inout [Key]) {
        switch state {
        case .ground: begin(byte, &keys)
        case .escape: afterEscape(byte, &keys)
        case .singleShift:
            state = .ground
            if let key = Self.key(final: byte, parameters: []) { keys.append(key) }
        case .sequence(let parameters):
            guard !(0x40...0x7E).contains(byte) else { return endSequence(parameters, byte, &keys) }
            state = parameters.count < Self.parameterLimit ? .sequence(parameters + [byte]) : .ground
        case .paste(var text):
            // Emptied first, so that the bytes are appended in place.
            state = .ground
            text.append(byte)
            if byte == 0x7E, text.suffix(Self.pasteEnd.count).elementsEqual(Self.pasteEnd) {
                text.removeLast(Self.pasteEnd.count)
                keys.append(.paste(Self.plain(text.prefix(Self.pasteLimit))))
            } else {
                if text.count > Self.pasteLimit + 2 * Self.pasteEnd.count {
                    text.removeSubrange(Self.pasteLimit..<text.count - Self.pasteEnd.count)
                }
                state = .paste(text)
            }
        case .character(let start, let left):
            state = .ground
            guard byte & 0xC0 == 0x80 else { return begin(byte, &keys) }
            guard left == 1 else { return state = .character(start + [byte], left - 1) }
            if let text = String(validating: start + [byte], as: UTF8.self) { keys += text.map(Key.character) }
        }
    }

    private mutating func begin(_ byte: UInt8, _ keys: inout [Key]) {
        switch byte {
        case 0x1B: state = .escape
        case 0x0D: keys.append(.enter)
        case 0x0A: keys.append(.newline)
        case 0x7F, 0x08: keys.append(.backspace)
        case 0x09: keys.append(.character(" "))
        case 0x01...0x1A: keys.append(.control(Character(Unicode.Scalar(byte + 0x60))))
        case 0x20...0x7E: keys.append(.character(Character(Unicode.Scalar(byte))))
        case 0xC2...0xDF: state = .character([byte], 1)
        case 0xE0...0xEF: state = .character([byte], 2)
        case 0xF0...0xF4: state = .character([byte], 3)
        default: break
        }
    }

    private mutating func afterEscape(_ byte: UInt8, _ keys: inout [Key]) {
        state = .ground
        switch byte {
        case UInt8(ascii: "["): state = .sequence([])
        case UInt8(ascii: "O"): state = .singleShift
        case 0x0D, 0x0A: keys.append(.newline)
        case 0x1B:
            keys.append(.escape)
            state = .escape
        default: begin(byte, &keys)
        }
    }

    private mutating func endSequence(_ parameters: [UInt8], _ final: UInt8, _ keys: inout [Key]) {
        state = .ground
        if final == UInt8(ascii: "~"), parameters.elementsEqual("200".utf8) {
            state = .paste([])
        } else if let key = Self.key(final: final, parameters: parameters) {
            keys.append(key)
        }
    }

    private static func key(final: UInt8, parameters: [UInt8]) -> Key? {
        switch final {
        case UInt8(ascii: "A"): .up
        case UInt8(ascii: "B"): .down
        case UInt8(ascii: "C"): .right
        case UInt8(ascii: "D"): .left
        case UInt8(ascii: "H"): .home
        case UInt8(ascii: "F"): .end
        case UInt8(ascii: "~"):
            switch parameters.first {
            case UInt8(ascii: "1"), UInt8(ascii: "7"): .home
            case UInt8(ascii: "4"), UInt8(ascii: "8"): .end
            case UInt8(ascii: "3"): .delete
            case UInt8(ascii: "5"): .pageUp
            case UInt8(ascii: "6"): .pageDown
            default: nil
            }
        default: nil
        }
    }

    /// The text of a paste with one kind of line end and no other control characters.
    private static func plain(_ bytes: ArraySlice<UInt8>) -> String {
        let text = String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n").replacing("\r", with: "\n")
        return String(text.unicodeScalars.filter { $0 == "\n" || $0.value >= 0x20 && $0.value != 0x7F })
    }
}
