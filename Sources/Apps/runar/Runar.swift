internal import ArgumentParser
internal import Logging

@main struct Runar: ParsableCommand {}
