internal import Bytes
package import Circle

// The bodies of requests for the inner circle.

/// The profile of this device's person.
package struct ProfileForm: Codable, Sendable {
    package let name: String
    package let blurb: String?
    /// The decentralised identifier; the former one stays if it is absent, and an empty text removes it.
    package let did: String?
    /// The handle at an identity server, with its domain; the former one stays if it is absent, and an empty text removes it.
    package let handle: String?

    package init(name: String, blurb: String?, did: String? = nil, handle: String? = nil) {
        self.name = name
        self.blurb = blurb
        self.did = did
        self.handle = handle
    }
}

/// The answer to a person whose request is declined.
package struct DeclineForm: Codable, Sendable {
    /// Whether further requests of the person's devices are refused.
    package let ignoreDevices: Bool?

    package init(ignoreDevices: Bool?) {
        self.ignoreDevices = ignoreDevices
    }
}

/// The members that hold mail for the devices of this device's person; none for the nearest ones.
package struct HomesForm: Codable, Sendable {
    package let peers: [String]

    package init(_ peers: [PeerName]) {
        self.peers = peers.map(\.text)
    }
}

/// The properties of a new stream.
package struct StreamForm: Codable, Sendable {
    package let name: String
    package let blurb: String?
    package let posting: StreamPolicies.Posting?

    package init(name: String, blurb: String?, isCreatorAlone: Bool) {
        self.name = name
        self.blurb = blurb
        posting = isCreatorAlone ? .creator : .members
    }
}

/// The reasons for a block, with the severity of each.
package struct BlockForm: Codable, Sendable {
    package let reasons: [String: Int]?

    package init(reasons: [String: Int]?) {
        self.reasons = reasons
    }
}

/// A thought: a text, or the content of a file with its media type.
package struct ThoughtForm: Codable, Sendable {
    package let text: String?
    package let mediaType: AttachmentKind?
    /// The content.
    package let base64: String?
    package let contentType: String?
    package let fileName: String?

    package init(_ text: String) {
        self.text = text
        (mediaType, base64, contentType, fileName) = (nil, nil, nil, nil)
    }

    package init(_ attachment: Attachment) {
        text = nil
        mediaType = attachment.kind
        base64 = Base64.encode(attachment.content)
        contentType = attachment.contentType
        fileName = attachment.fileName
    }
}

/// Thoughts by their first and last number.
package struct OpenedForm: Codable, Sendable {
    package let first: UInt64
    package let last: UInt64

    package init(first: UInt64, last: UInt64) {
        self.first = first
        self.last = last
    }
}
