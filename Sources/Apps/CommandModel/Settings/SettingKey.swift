internal import Failures

/// The settings of a program: each has a key in a file of JSON, a variable of the environment and a flag.
package protocol SettingKey: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
    /// The beginning of the variables' names, such as `RUNAR_`.
    static var variablePrefix: String { get }

    /// The default values; nil is "none".
    var defaultValues: [String]? { get }

    /// Whether it is a list.
    var isList: Bool { get }

    /// Refuses values that the setting does not take, before anything is started with them.
    ///
    /// - Throws: ``CommandFailure``, or an error with a code.
    func check(_ values: [String]) throws
}

extension SettingKey {
    /// Its name in the environment: `RUNAR_LOG_LEVEL`.
    package var variable: String { Self.variablePrefix + words.joined(separator: "_").uppercased() }

    /// Its flag: `--log-level`.
    package var flag: String { "--" + words.joined(separator: "-") }

    /// Returns the failure of a value that the setting does not take.
    package func unfit(_ value: String, _ why: String) -> CommandFailure {
        CommandFailure("bad-setting", .configuration, "\(rawValue) cannot be \"\(value)\": \(why)")
    }

    /// Refuses a value that is not a whole number of `range`.
    ///
    /// - Throws: ``CommandFailure``.
    package func requireNumber(_ value: String, in range: ClosedRange<Int>) throws(CommandFailure) {
        guard let number = Int(value), range.contains(number) else {
            throw unfit(value, "it must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
    }

    private var words: [String] {
        var words = [""]
        for character in rawValue {
            if character.isUppercase { words.append("") }
            words[words.count - 1].append(character.lowercased())
        }
        return words
    }
}
