internal import APIDescription
internal import HTTPAPI
package import NodeModel

/// A network, or nil for the only one or all of them, which a path writes as ``NodeAPI/onlyNetwork``.
extension NetworkName?: PathParameters, PathParameter {
    package static var parameter: String { "network" }

    package init(segment: String) { self = segment == NodeAPI.onlyNetwork ? nil : NetworkName(form: segment) }

    package var segment: String { self?.text ?? NodeAPI.onlyNetwork }
}

extension PeerName: PathParameter {
    package static var parameter: String { "peer" }

    package init(segment: String) { self.init(form: segment) }

    package var segment: String { text }
}

extension PersonName: PathText {
    package static var parameter: String { "person" }
}

extension StreamName: PathText {
    package static var parameter: String { "stream" }
}

extension ConversationName: PathText {
    package static var parameter: String { "conversation" }
}

/// The name of a key: `root`, or that of a network's key.
package struct KeyName: PathText {
    package static let parameter = "key"
    package let text: String

    package init(_ text: String) { self.text = text }
}

/// The public id of a thought, or its number.
package struct ThoughtName: PathText {
    package static let parameter = "thought"
    package let text: String

    package init(_ text: String) { self.text = text }
}

/// The id of a received file.
package struct FileName: PathText {
    package static let parameter = "id"
    package let text: String

    package init(_ text: String) { self.text = text }
}

/// The key of a setting.
package struct SettingName: PathText {
    package static let parameter = "key"
    package let text: String

    package init(_ text: String) { self.text = text }
}

/// The number with which an update reported a request.
package struct RequestNumber: PathParameter {
    let value: Int

    package init(_ value: Int) {
        self.value = value
    }

    package static let parameter = "number"

    package init(segment: String) throws {
        guard let value = Int(segment), value >= 0 else { throw RouteRequest.badField("number", "must be a number") }
        self.value = value
    }

    package var segment: String { "\(value)" }
}
