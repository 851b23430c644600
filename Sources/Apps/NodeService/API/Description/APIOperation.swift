internal import APIDescription
internal import HTTPAPI

/// An operation of the API with its handler.
struct APIOperation: Sendable {
    let endpoint: ServedEndpoint
    let access: OperationAccess

    var route: Route { endpoint.route }
}
