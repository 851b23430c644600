internal import Foundation

/// The readings of an answer to a question; nil for an answer that is neither, after which the question is repeated.
package enum Consent {
    /// Reads yes or no, as a word or its first letter, in any case.
    package static func yesOrNo(_ answer: String) -> Bool? {
        switch folded(answer) {
        case "y", "yes": true
        case "n", "no": false
        default: nil
        }
    }

    /// Reads the word that a step requires which cannot be undone; an empty line is no answer, and another word is a no.
    package static func word(_ word: String, in answer: String) -> Bool? {
        let answer = folded(answer)
        return answer.isEmpty ? nil : answer == folded(word)
    }

    private static func folded(_ text: String) -> String {
        text.trimmingCharacters(in: .whitespacesAndNewlines).lowercased()
    }
}
