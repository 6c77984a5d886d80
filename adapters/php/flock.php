#!/usr/bin/env php
<?php
// flock() of PHP's standard library on the library lockstorm.php: the control of the adapters in PHP.
//
// Run it with: lockstorm run --backend exec:cmd=adapters/php/flock.php --nemesis client-pause [-- waits]
// With the argument waits, the adapter waits for the lock by itself and runs the critical section (section instead of attempt). The lock
// is correct: if one of its runs fails, the defect is in lockstorm.php or in lockstorm, and a failure of a library may have the same cause.
require __DIR__ . '/lockstorm.php';

final class Flock
{
    private string $folder;

    public function __construct(private bool $waits)
    {
    }

    public function about(): array
    {
        return [
            'protocol' => 1, 'name' => 'flock.php', 'version' => '1', 'doc' => 'flock() on a file, from PHP',
            'topologies' => ['local'], 'ends' => 'process', 'clock' => 'monotonic', 'waits' => $this->waits, 'versions' => ['php' => PHP_VERSION],
        ];
    }

    public function open(array $request): void
    {
        $this->folder = $request['dir'];
    }

    public function attempt(array $request, Program $program): array
    {
        $file = fopen("$this->folder/{$request['lock']}.lock", 'c');
        $sent = now();
        if (!flock($file, LOCK_EX | LOCK_NB)) {
            throw new Definite('busy'); // the file is closed with its last reference
        }
        return [$file, ['sent' => $sent]];
    }

    public function section(array $request, Program $program, Closure $inside): void
    {
        $file = fopen("$this->folder/{$request['lock']}.lock", 'c');
        for ($sent = now(); !flock($file, LOCK_EX | LOCK_NB); $sent = now()) {
            if ($program->cancelled($request['id'])) {
                throw new Definite('busy', 'the wait was cancelled');
            }
            usleep(20_000);
        }
        $inside(['sent' => $sent]);
        fclose($file);
    }

    public function release($file): void // null: of a critical section, which has ended
    {
        if (!is_resource($file)) {
            throw new Definite('not-held', 'the lock had already been released');
        }
        fclose($file);
    }
}

(new Program(new Flock(in_array('waits', $argv))))->serve();
