/// The labels of a series as they are written, in order of their names.
struct SeriesLabels: Hashable, Comparable, Sendable {
    /// `a="1",b="2"`, or nothing.
    let text: String

    init(_ dimensions: [(String, String)]) {
        text = dimensions.map { (Self.name($0.0, allowsColon: false), $0.1) }
            .sorted { $0 < $1 }
            .map { "\($0.0)=\"\(Self.escaped($0.1))\"" }
            .joined(separator: ",")
    }

    /// With braces, and with one more label if there is one.
    func braced(_ further: String = "") -> String {
        let all = [text, further].filter { !$0.isEmpty }.joined(separator: ",")
        return all.isEmpty ? "" : "{\(all)}"
    }

    static func < (left: Self, right: Self) -> Bool { left.text < right.text }

    /// A name with an underscore for whatever may not be in one.
    static func name(_ text: String, allowsColon: Bool) -> String {
        var name = ""
        for character in text.unicodeScalars {
            switch character {
            case "a"..."z", "A"..."Z", "_": name.unicodeScalars.append(character)
            case "0"..."9":
                if name.isEmpty { name = "_" }
                name.unicodeScalars.append(character)
            case ":" where allowsColon: name.unicodeScalars.append(character)
            default: name += "_"
            }
        }
        return name.isEmpty ? "_" : name
    }

    private static func escaped(_ value: String) -> String {
        value.unicodeScalars.reduce(into: "") { text, character in
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(character)
            }
        }
    }
}
