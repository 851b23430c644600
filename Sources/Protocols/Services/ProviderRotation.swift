internal import Identity
internal import OrderedCollections

/// The providers of the paths that were requested since the last change of offers: those of a path are selected
/// round-robin.
struct ProviderRotation: Sendable {
    /// The providers of a path, or the reason why there are none.
    private struct Resolution: Sendable {
        let outcome: Result<[Services.Provider], ServiceFailure>
        /// The number of the provider that is next.
        var nextProvider: Int
    }

    private let limit: Int
    private var resolutions: [RequestPath: Resolution] = [:]
    /// The provider with which the next new path begins.
    private var nextOffset = 0

    init(limits: Services.Limits) {
        limit = limits.rememberedPaths
    }

    /// Forgets all paths, because the offers changed.
    mutating func reset() { resolutions.removeAll(keepingCapacity: true) }

    /// Returns the next provider of a path; suspects are last.
    mutating func next(
        of path: RequestPath,
        in offers: MemberOffers,
        excluding excluded: [PeerId],
        suspects: OrderedSet<PeerId>
    ) -> Result<Services.Provider, ServiceFailure> {
        if resolutions[path] == nil {
            if resolutions.count >= limit { resolutions.removeAll() }
            resolutions[path] = Resolution(outcome: offers.resolve(path), nextProvider: nextOffset)
            nextOffset &+= 1
        }
        guard let index = resolutions.index(forKey: path) else {
            preconditionFailure("\(path.text) was just looked up")
        }
        return Self.take(from: &resolutions.values[index], excluded, suspects)
    }

    private static func take(
        from resolution: inout Resolution,
        _ excluded: [PeerId],
        _ suspects: OrderedSet<PeerId>
    ) -> Result<Services.Provider, ServiceFailure> {
        let providers: [Services.Provider]
        switch resolution.outcome {
        case .success(let found): providers = found
        case .failure(let failure): return .failure(failure)
        }
        var lastResort: Services.Provider?
        for _ in providers {
            let provider = providers[resolution.nextProvider % providers.count]
            resolution.nextProvider = (resolution.nextProvider + 1) % providers.count
            if excluded.contains(provider.peer) { continue }
            if !suspects.contains(provider.peer) { return .success(provider) }
            lastResort = lastResort ?? provider
        }
        return lastResort.map { .success($0) } ?? .failure(ServiceFailure(kind: .unreachable))
    }

    /// Returns the providers of a path without taking a turn.
    func providers(of path: RequestPath, in offers: MemberOffers) -> [Services.Provider] {
        switch resolutions[path]?.outcome ?? offers.resolve(path) {
        case .success(let providers): providers
        case .failure: []
        }
    }
}
