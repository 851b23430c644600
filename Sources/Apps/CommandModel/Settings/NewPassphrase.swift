package import Bytes

/// The rule for a passphrase that is chosen, on the command line and in the console; an old one may break it.
package enum NewPassphrase {
    /// The fewest characters: a shorter one is found by trying.
    package static let fewestCharacters = 8

    /// Whether a passphrase in UTF-8 has enough characters.
    package static func isLongEnough(_ passphrase: SecretBytes) -> Bool {
        // Every byte but a continuation begins a character.
        passphrase.withBytes { $0.count { $0 & 0xC0 != 0x80 } } >= fewestCharacters
    }
}
