public import Failures

/// Why words are not a recovery phrase.
public enum RecoveryPhraseError: Error, Hashable, Sendable {
    /// There must be 24 words.
    case wrongWordCount(found: Int)
    /// The word at this position, counted from 1, is not on the list; the suggestion is the nearest that is.
    case unknownWord(String, position: Int, suggestion: String?)
    /// All words are on the list, but together they are not a phrase.
    case wrongChecksum
}

extension RecoveryPhraseError: CodedError, CustomStringConvertible {
    /// The failure in words, with what to look at.
    public var description: String {
        switch self {
        case .wrongWordCount(let found):
            "a recovery phrase has \(RecoveryPhrase.wordCount) words, not \(found)"
        case .unknownWord(let word, let position, let suggestion?):
            "word \(position), \(PlainText.quoted(word)), is not on the list; did you mean \"\(suggestion)\"?"
        case .unknownWord(let word, let position, nil):
            "word \(position), \(PlainText.quoted(word)), is not on the list"
        case .wrongChecksum:
            "every word is on the list, but one of them is another than the one written down, or two are swapped"
        }
    }

    package var failureCode: FailureCode { FailureCode("bad-phrase", .unknown, .data) }
}
