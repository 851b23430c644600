internal import Concurrency
internal import Identity
internal import Services

extension HostedService {
    /// The announcement of the service to other devices.
    var offer: ServiceOffer {
        ServiceOffer(
            path: service.path,
            version: service.version,
            isRunning: state == .running,
            actions: actions.map { action in
                ActionOffer(
                    name: action.name,
                    isIdempotent: action.options.isIdempotent,
                    streams: action is any StreamingServiceAction
                )
            }
        )
    }

    /// - Throws: ``RunarError`` when it cannot be announced.
    func checkOffer() throws(RunarError) {
        do throws(WireError) {
            try Announcement.check([offer])
        } catch {
            throw .failure(.invalidParameters, message: error.description, context: service.path)
        }
    }
}
