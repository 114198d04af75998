/*
 * Licensed to the Apache Software Foundation (ASF) under one
 * or more contributor license agreements.  See the NOTICE file
 * distributed with this work for additional information
 * regarding copyright ownership.  The ASF licenses this file
 * to you under the Apache License, Version 2.0 (the
 * "License"); you may not use this file except in compliance
 * with the License.  You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.apache.beam.runners.spark.structuredstreaming.testing;

import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * The files of this machine under a scheme of their own, for which nobody takes them for local ones: a
 * file system like those of clusters, which knows no locks.
 */
public class LocalFilesBySchemeOnly extends RawLocalFileSystem {
  /** Its scheme, and the setting of Hadoop's configuration that makes it known. */
  public static final String SCHEME = "remote";

  public static final String SETTING = "fs." + SCHEME + ".impl";

  /** A configuration that knows the scheme. */
  public static Configuration configuration() {
    Configuration configuration = new Configuration();
    configuration.set(SETTING, LocalFilesBySchemeOnly.class.getName());
    return configuration;
  }

  @Override
  public URI getUri() {
    return URI.create(SCHEME + ":///");
  }

  @Override
  public String getScheme() {
    return SCHEME;
  }

  /** Without a {@code chmod}, which Hadoop runs a process for. */
  @Override
  public void setPermission(Path path, FsPermission permission) {}
}
