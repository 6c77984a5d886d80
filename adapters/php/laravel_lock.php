#!/usr/bin/env php
<?php
// Laravel's cache locks as an adapter of lockstorm: Cache::lock($name, $seconds)->get() and release(), over the store that the argument
// names.
//
//   redis  RedisStore with phpredis
//   file   FileStore
//
// Run it with: lockstorm run --backend exec:cmd=adapters/php/laravel_lock.php --nemesis client-pause -- redis
require __DIR__ . '/lockstorm.php';

use Illuminate\Cache\FileStore;
use Illuminate\Cache\RedisStore;
use Illuminate\Contracts\Cache\Lock;
use Illuminate\Contracts\Cache\LockProvider;
use Illuminate\Filesystem\Filesystem;
use Illuminate\Redis\RedisManager;

need('Illuminate/Cache/autoload.php', 'php-illuminate-cache');

final class Laravel
{
    private array $request;
    private int $seconds;
    private ?LockProvider $store = null;

    public function __construct(private string $kind)
    {
    }

    public function about(): array
    {
        $redis = $this->kind === 'redis';
        $about = [
            'protocol' => 1, 'name' => 'laravel_lock.php', 'version' => '1', 'doc' => 'cache locks of Laravel, ' . ($redis ? 'RedisStore with phpredis' : 'FileStore'),
            'library' => 'illuminate/cache ' . packageVersion('php-illuminate-cache', 'Illuminate/Cache/autoload.php'), 'clock' => 'monotonic', 'no_try' => false, 'calls' => [],
            'topologies' => $redis ? ['redis-single', 'redis-single-aof'] : ['local'], 'ends' => 'lease',
            'versions' => ['php' => PHP_VERSION] + ($redis ? ['phpredis' => phpversion('redis')] : []),
            'notes' => 'The library counts in whole seconds, so the adapter rounds the time to live up.',
        ];
        return $about + ($redis ? ['keys' => ['lockstorm:{run}:{lock}']] : ['points' => [['name' => 'checked', 'doc' => 'release() has read the file of the lock and found that the lock is its own, but has not removed the file yet']]]);
    }

    public function open(array $request): void
    {
        $this->request = $request;
        $this->seconds = (int) ceil($request['lease_ns'] / 1e9);
        if ($this->kind === 'redis') {
            if (!extension_loaded('redis')) {
                fwrite(STDERR, "the PHP extension phpredis is missing (Debian: apt-get install php-redis)\n");
                exit(69);
            }
            need('Illuminate/Redis/autoload.php', 'php-illuminate-redis');
        } else {
            need('Illuminate/Filesystem/autoload.php', 'php-illuminate-filesystem');
        }
    }

    // store is made anew after an error, as a worker is that is started anew.
    private function store(): LockProvider
    {
        return $this->store ??= $this->kind === 'redis' ? $this->redis() : $this->files();
    }

    private function redis(): RedisStore
    {
        $node = $this->request['nodes'][0];
        $seconds = $this->request['timeout_ns'] / 1e9;
        $manager = new RedisManager(null, 'phpredis', ['default' => ['host' => $node['host'], 'port' => $node['port'], 'timeout' => $seconds, 'read_timeout' => $seconds]]);
        try {
            $manager->connection();
        } catch (RedisException $e) {
            throw new Definite('not-sent', $e->getMessage());
        }
        return new RedisStore($manager, "lockstorm:{$this->request['run']}:");
    }

    private function files(): FileStore
    {
        return new class(new Filesystem(), $this->request['dir'] . '/cache') extends FileStore { // with a point before a file is removed
            public ?Closure $checked = null;

            public function forget($key)
            {
                if ($this->checked !== null) {
                    ($this->checked)();
                }
                return parent::forget($key);
            }
        };
    }

    public function attempt(array $request, Program $program): array
    {
        $lock = $this->guarded(fn () => $this->store()->lock($request['lock'], $this->seconds));
        $sent = now();
        if (!$this->guarded(fn () => $lock->get())) {
            throw new Definite('busy');
        }
        return [new Held($lock, $request['id'], $program), ['sent' => $sent, 'ttl_ns' => $this->seconds . '000000000']];
    }

    public function release(Held $hold): void
    {
        $store = $this->store();
        if ($store instanceof FileStore) {
            $store->checked = fn () => $hold->program->point($hold->id, 'checked');
        }
        try {
            $released = $this->guarded(fn () => $hold->lock->release());
        } finally {
            if ($store instanceof FileStore) {
                $store->checked = null;
            }
        }
        if (!$released) {
            throw new Definite('not-held', 'release() returned false');
        }
    }

    private function guarded(Closure $f): mixed
    {
        try {
            return $f();
        } catch (Definite $e) {
            throw $e;
        } catch (Throwable $e) {
            $this->store = null;
            throw $e;
        }
    }
}

// Held is a lock that was acquired.
final class Held
{
    public function __construct(public readonly Lock $lock, public readonly int $id, public readonly Program $program)
    {
    }
}

(new Program(new Laravel($argv[1] ?? 'redis')))->serve();
