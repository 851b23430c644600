internal import Concurrency
internal import Identity
internal import Services

extension HostedService {
    /// The announcement of the service to other devices.
    var offer: ServiceOffer {
        ServiceOffer(
            path: self.service.path,
            version: self.service.version,
            isRunning: self.state == .running,
            actions: self.actions.map { action in
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
            try Announcement.check([self.offer])
        } catch {
            throw .failure(.invalidParameters, message: error.description, context: self.service.path)
        }
    }
}
