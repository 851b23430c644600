internal import NodeModel
internal import NodeService

/// The one object that a failing command prints with `--json`.
struct FailureReport: Codable {
    let error: CommandFailure
}
