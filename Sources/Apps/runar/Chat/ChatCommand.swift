/// The meaning of a line that a person wrote in a chat.
enum ChatCommand: Hashable {
    /// A text for the other person.
    case text
    /// A text that begins with a slash, which was written twice.
    case literal(String)
    /// A file at a path, which is empty if the person named none.
    case send(String)
    case help
    /// A word after a slash that is no command; sent, it would be read by the other person.
    case unknown(String)

    /// The beginning of a line that sends a file.
    static let sendPrefix = "/send "
    /// The commands, for people.
    static let helpText =
        "/send PATH sends a picture, sound or video; // begins a text with a slash; Control-F searches, Control-C ends"

    /// Reads a line; a text of several lines is never a command, because it was pasted or written as a message.
    init(_ text: String) {
        guard text.hasPrefix("/"), !text.contains(where: \.isNewline) else {
            self = .text
            return
        }
        let word = String(text.prefix { !$0.isWhitespace })
        switch word {
        case "/send": self = .send(Self.trimmed(text.dropFirst(word.count)))
        case "/help", "/?": self = .help
        default:
            if text.hasPrefix("//") {
                self = .literal(String(text.dropFirst()))
            } else {
                // A path, as in `/etc/hosts`, is a text.
                let isPath = word.dropFirst().contains("/") || word.count == 1
                self = isPath ? .text : .unknown(word)
            }
        }
    }

    private static func trimmed(_ path: Substring) -> String {
        var path = path.drop { $0 == " " }
        while path.last == " " { path.removeLast() }
        return String(path)
    }
}
