internal import APIDescription
internal import NodeModel

// The schemas of the lines for the description of the API.
extension Activity {
    private static let contents: [any ActivityContent.Type] = [
        ActivityEvent.self, ActivityMessage.self, ActivityFileOffered.self, ActivityOfferEnded.self,
        ActivityFileProgress.self, ActivityFileArrived.self, ActivityFileFailed.self, ActivityTableOperation.self,
        ActivitySample.self, ActivityChanged.self,
    ]

    /// - Throws: ``SchemaReader/Failure``.
    static func schemas() throws -> [JSONSchema] {
        let stamp = try SchemaReader.object(of: ActivityStamp.self)
        let lines = try contents.map { content in
            let object = try SchemaReader.object(of: content)
            return ObjectSchema(fields: stamp.fields + object.fields).with("kind", .constant(content.kind))
        }
        let hello = try SchemaReader.object(of: ActivityHello.self).with("kind", .constant("hello"))
        let alive = try SchemaReader.object(of: ActivityAlive.self).with("kind", .constant("alive"))
        return ([hello, alive] + lines).map { .object($0) }
    }
}
