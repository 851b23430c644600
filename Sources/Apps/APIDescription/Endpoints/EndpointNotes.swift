/// The part of a description that the types of an endpoint do not reveal.
package struct EndpointNotes: Hashable, Sendable {
    /// The summary, in a few words.
    package var summary: String?
    package var details: String?
    package var tags: [String]
    /// The header fields of an answer that is no failure: names, and descriptions.
    package var answerFields: [String: String]
    /// The failures that deserve a description of their own, by status.
    package var failures: [Int: String]
    /// The schema of the endpoint's failures; nil for that of the document.
    package var failure: JSONSchema?
    /// Further members of the operation object; their names begin with `x-`.
    package var extensions: [String: JSONDocument]

    package init(
        summary: String? = nil,
        details: String? = nil,
        tags: [String] = [],
        answerFields: [String: String] = [:],
        failures: [Int: String] = [:],
        failure: JSONSchema? = nil,
        extensions: [String: JSONDocument] = [:]
    ) {
        self.summary = summary
        self.details = details
        self.tags = tags
        self.answerFields = answerFields
        self.failures = failures
        self.failure = failure
        self.extensions = extensions
    }
}
