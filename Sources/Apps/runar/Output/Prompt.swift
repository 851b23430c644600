internal import Bytes
internal import Platform

/// Asks the person at the terminal, whatever standard input is.
enum Prompt {
    /// The longest line that is read, in bytes.
    private static let lineLimit = 4096

    /// Whether there is a person to ask.
    static var isPossible: Bool {
        let terminal = Posix.openTerminal()
        guard terminal >= 0 else { return false }
        Posix.close(terminal)
        return true
    }

    /// Asks for a line.
    ///
    /// - Throws: ``CommandFailure`` when there is no terminal.
    static func line(_ question: String, isSecret: Bool = false, otherwise advice: String) throws -> String {
        var bytes = try read(question, isSecret: isSecret, otherwise: advice)
        defer { bytes.wipe() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Asks for a secret that nobody sees being typed.
    static func secret(_ question: String, otherwise advice: String) throws -> SecretBytes {
        var bytes = try read(question, isSecret: true, otherwise: advice)
        return SecretBytes(consuming: &bytes)
    }

    /// Asks twice for a new secret.
    static func newSecret(_ question: String, otherwise advice: String) throws -> SecretBytes {
        let first = try secret("\(question): ", otherwise: advice)
        guard first.count > 0 else {
            throw CommandFailure(
                "empty-passphrase",
                .usage,
                "the passphrase is empty; choose one, or use --no-passphrase"
            )
        }
        guard try secret("once more: ", otherwise: advice) == first else {
            throw CommandFailure("passphrases-differ", .data, "the two passphrases differ; nothing was done, try again")
        }
        return first
    }

    /// Whether the person types exactly `word`.
    static func confirms(_ question: String, with word: String, otherwise advice: String) throws -> Bool {
        try line("\(question) Type \(word) to go on: ", otherwise: advice) == word
    }

    private static func read(_ question: String, isSecret: Bool, otherwise advice: String) throws -> [UInt8] {
        let terminal = Posix.openTerminal()
        guard terminal >= 0 else {
            throw CommandFailure(
                "no-terminal",
                .notPermitted,
                "this asks a person, and there is no terminal: \(advice)"
            )
        }
        defer { Posix.close(terminal) }
        _ = Posix.write(Array(Terminal.escaped(question).utf8), to: terminal)
        func typed() -> [UInt8] {
            var line: [UInt8] = []
            while line.count < lineLimit {
                let next = Posix.read(terminal, atMost: 1)
                guard let byte = next.first, byte != UInt8(ascii: "\n") else { break }
                line.append(byte)
            }
            return line
        }
        guard isSecret else { return typed() }
        defer { _ = Posix.write([UInt8(ascii: "\n")], to: terminal) }
        return Posix.withoutEcho(terminal, typed)
    }
}
